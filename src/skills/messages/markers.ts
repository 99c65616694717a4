/**
 * The three markers in `anthropic-beta` that requests with skills once needed, and still need if the request uses the older
 * API (`anthropic-version: 2023-06-01`, or no version).
 *
 * @module
 */
import { betasOf } from "../api/dialect.ts";
import { SkillError } from "../error.ts";

/** When the markers are required: by the version of the request, always, or never. */
export type MarkerRule = "auto" | "always" | "never";

const MARKERS = ["skills-2025-10-02", "code-execution-2025-08-25", "files-api-2025-04-14"] as const;
/** Handled by Trivet. The files marker concerns the model endpoint. */
const HANDLED_MARKERS: ReadonlySet<string> = new Set(MARKERS.slice(0, 2));
/** The version that requires them. */
const MARKER_VERSION = "2023-06-01";

/** @throws {SkillError} that names each missing marker */
export function checkMarkers(headers: Headers, rule: MarkerRule): void {
  if (rule === "never") return;
  const version = headers.get("anthropic-version");
  if (rule === "auto" && version !== null && version !== MARKER_VERSION) return;
  const named = betasOf(headers);
  const missing = MARKERS.filter((marker) => !named.includes(marker));
  if (missing.length === 0) return;
  const way = rule === "always" ? "" : `, or use an anthropic-version later than ${MARKER_VERSION}`;
  throw new SkillError(
    "invalid_request_error",
    `anthropic-beta: a request with skills must include ${missing.join(", ")}${way}`,
  );
}

/** The values of `anthropic-beta` for the model endpoint. */
export function forwardedBetas(headers: Headers): string[] {
  return betasOf(headers).filter((each) => !HANDLED_MARKERS.has(each));
}
