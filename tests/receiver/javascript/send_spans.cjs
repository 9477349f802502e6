// Export a trace with an exporter of opentelemetry-js and print what its SDK made.
//
//     node send_spans.cjs grpc|http|proto ENDPOINT none|gzip
"use strict";

const { SpanKind, SpanStatusCode, context, diag, trace } = require("@opentelemetry/api");
const { resourceFromAttributes } = require("@opentelemetry/resources");
const { BatchSpanProcessor, NodeTracerProvider } = require("@opentelemetry/sdk-trace-node");

const [protocol, url, compression] = process.argv.slice(2);
const { OTLPTraceExporter } = require(`@opentelemetry/exporter-trace-otlp-${protocol}`);

const problems = [];
diag.setLogger({
  error: (message) => problems.push(String(message)),
  warn: (message) => problems.push(String(message)),
  info() {},
  debug() {},
  verbose() {},
});

const made = [];
const remember = {
  onStart() {},
  onEnd: (span) => made.push(span),
  forceFlush: async () => {},
  shutdown: async () => {},
};
const provider = new NodeTracerProvider({
  resource: resourceFromAttributes({ "service.name": "javascript-agent" }),
  spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter({ url, compression })), remember],
});
const tracer = provider.getTracer("shop", "1.2.3");

const root = tracer.startSpan("ask", {
  kind: SpanKind.SERVER,
  attributes: { "dbagenteval.question": "How many orders? 注文は？", whole: 42, part: 0.5, yes: true },
});
const child = tracer.startSpan(
  "SELECT orders",
  { kind: SpanKind.CLIENT, attributes: { "db.query.text": "SELECT 1", list: ["a", "b"], numbers: [1, 2] } },
  trace.setSpan(context.active(), root),
);
child.addEvent("row", { number: 7 });
child.addLink({ context: root.spanContext(), attributes: { why: "test" } });
child.setStatus({ code: SpanStatusCode.ERROR, message: "no such table" });
child.end();
root.end();

const nanoseconds = ([seconds, rest]) => String(BigInt(seconds) * 1_000_000_000n + BigInt(rest));

provider.forceFlush().then(() => provider.shutdown()).then(() => {
  const spans = made.map((span) => ({
    trace_id: span.spanContext().traceId,
    span_id: span.spanContext().spanId,
    parent_span_id: span.parentSpanContext?.spanId ?? "",
    name: span.name,
    kind: span.kind + 1, // OTLP counts from UNSPECIFIED
    start_ns: nanoseconds(span.startTime),
    end_ns: nanoseconds(span.endTime),
    attributes: span.attributes,
    events: span.events.map(({ name, attributes }) => [name, attributes]),
    links: span.links.map((link) => [link.context.spanId, link.attributes]),
    status: [span.status.code, span.status.message ?? ""],
  }));
  console.log(JSON.stringify({ spans, problems }));
});
