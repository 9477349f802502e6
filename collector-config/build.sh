#!/bin/sh
# Build the Collector of builder.yaml once and print its path. Needs Go; kept between runs in
# $DBAGENTEVAL_COLLECTOR_CACHE (default ~/.cache/dbagenteval/collector), by the content of builder.yaml.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
cache=${DBAGENTEVAL_COLLECTOR_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/dbagenteval/collector}
key=$(sha256sum "$here/builder.yaml" | cut -c1-16)
target=$cache/$key/otelcol
if [ ! -x "$target" ]; then
    command -v go >/dev/null || { echo "build.sh: Go is not installed" >&2; exit 2; }
    version=$(sed -n 's/^  version: //p' "$here/builder.yaml")
    work=$cache/work-$key
    mkdir -p "$cache/$key" "$work"
    GOBIN=$work go install "go.opentelemetry.io/collector/cmd/builder@v$version" >&2
    sed "s|output_path: .*|output_path: $work/build|" "$here/builder.yaml" >"$work/builder.yaml"
    "$work/builder" --config "$work/builder.yaml" --skip-get-modules --skip-compilation >&2
    # -e: modules that only tests of the parts need may be missing from the proxy.
    (cd "$work/build" && go mod tidy -e && CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o otelcol .) >&2
    mv "$work/build/otelcol" "$target.part"
    mv "$target.part" "$target"
    rm -rf "$work"
fi
echo "$target"
