export { toSummary as toHtml } from "./report_summary.ts";
