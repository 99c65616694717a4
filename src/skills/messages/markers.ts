/**
 * The three markers in `anthropic-beta` that requests with skills once needed, and still need where the request speaks
 * the API of then (`anthropic-version: 2023-06-01`, or none).
 *
 * @module
 */
import { betasOf } from "../api/dialect.ts";
import { SkillError } from "../error.ts";

/** When the markers must be there: by the version that the request names, always, or never. */
export type MarkerRule = "auto" | "always" | "never";

const MARKERS = ["skills-2025-10-02", "code-execution-2025-08-25", "files-api-2025-04-14"] as const;
/** What Trivet answers itself. Files in messages are the model endpoint's own, and so is their marker. */
const HANDLED_MARKERS: ReadonlySet<string> = new Set(MARKERS.slice(0, 2));
/** The version that needed them. */
const MARKER_VERSION = "2023-06-01";

/** @throws {SkillError} naming each marker that is missing */
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

/** What the model endpoint is to hear of `anthropic-beta`, once Trivet has answered its part. */
export function forwardedBetas(headers: Headers): string[] {
  return betasOf(headers).filter((each) => !HANDLED_MARKERS.has(each));
}
