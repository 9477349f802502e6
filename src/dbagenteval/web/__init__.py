"""The pages: results of test runs, rendered on the server, with nothing from elsewhere."""

from dbagenteval.web.serve import serve_results
from dbagenteval.web.standalone import standalone_page

__all__ = ["serve_results", "standalone_page"]
