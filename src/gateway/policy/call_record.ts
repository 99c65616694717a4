/**
 * What the audit trail records of a call: who, what, the digest of the arguments, the outcome and its time.
 *
 * @module
 */
import type { Observe, ToolCalled } from "../../events.ts";
import type { CallContext } from "../../mcp/context.ts";
import { digestJson, MAX_NODES, toCanonicalJson } from "./canonical_json.ts";
import { PolicyError } from "./condition.ts";
import { compileNameList } from "./match.ts";
import type { Match } from "./glob.ts";
import type { OfferedDefinition } from "./offered.ts";
import type { AuditOfCalls } from "./policy_options.ts";
import { checkMembers } from "./rules.ts";

/** How a call ended. */
export interface Ending {
  readonly outcome: NonNullable<ToolCalled["outcome"]>;
  readonly reason?: string | undefined;
}

/** Records calls. */
export interface CallRecorder {
  /** @param began by `performance.now()` */
  record(use: RecordedUse, context: RecordedContext, ending: Ending, began: number): void;
}

/** The context of a call, or of a completion. */
export type RecordedContext = Pick<CallContext, "principal" | "reportedTool">;

/** A use of a definition. */
export interface RecordedUse {
  readonly definition: OfferedDefinition;
  readonly name: string;
  readonly input: unknown;
  /** Whether only values for an argument or a variable are requested. */
  readonly isCompletion?: boolean;
}

const AUDIT_MEMBERS: ReadonlySet<string> = new Set<keyof AuditOfCalls>(["digest", "keep", "redact"]);
/** Names that secrets have; the last three only as words of their own, such as in `keys[key]`. */
const SECRET_NAME =
  /pass|secret|token|credential|authorization|cookie|private|signature|api.?key|(?:^|[^a-z\d])(?:pin|otp|key)(?:$|[^a-z\d])/i;
const REDACTED = "[redacted]";
/** Of arguments that are kept: an event is one line. */
const MAX_KEPT_CHARACTERS = 500;
const TYPES = {
  tool: "tool_called",
  resource: "resource_read",
  resource_template: "resource_read",
  prompt: "prompt_used",
} as const;

/** @throws {PolicyError} */
export function createCallRecorder(audit: AuditOfCalls, observe: Observe): CallRecorder {
  checkMembers(audit, AUDIT_MEMBERS, "audit");
  const { digest = true } = audit;
  if (typeof digest !== "boolean") throw new PolicyError("audit.digest", "must be true or false");
  const isKept = audit.keep === undefined ? undefined : compileNameList(audit.keep, "audit.keep");
  const isSecret: Match = audit.redact === undefined
    ? (name) => SECRET_NAME.test(name)
    : compileNameList(audit.redact, "audit.redact");

  return {
    record({ definition, name, input, isCompletion }, context, { outcome, reason }, began) {
      const { principal } = context;
      const type = isCompletion ? "completion_requested" : TYPES[definition.kind];
      observe({
        type,
        name,
        principal: principal?.subject ?? principal?.client,
        failed: outcome !== "ok" && outcome !== "input_required",
        client: principal?.client,
        ip: addressOf(context),
        upstream: definition.upstream,
        outcome,
        reason,
        arguments_digest: digest && input !== undefined ? tryDigest(input) : undefined,
        arguments: isKept?.(name) && input !== undefined ? keep(input, isSecret) : undefined,
        milliseconds: Math.round((performance.now() - began) * 10) / 10,
      });
      if (type === "tool_called") context.reportedTool = name;
    },
  };
}

function addressOf(context: object): string | undefined {
  return (context as { readonly runtime?: { readonly ip?: string | undefined } }).runtime?.ip;
}

/** Arguments can be too large, and those of a tool of this server can be values that JSON does not have. */
function tryDigest(input: unknown): string {
  try {
    return digestJson(input);
  } catch (error) {
    return nameOfProblem(error);
  }
}

function keep(input: unknown, isSecret: Match): string {
  try {
    return toCanonicalJson(redact(input, isSecret)).slice(0, MAX_KEPT_CHARACTERS);
  } catch (error) {
    return nameOfProblem(error);
  }
}

function nameOfProblem(error: unknown): string {
  return error instanceof RangeError ? "too large" : "not JSON";
}

/** A copy without the values of secrets. @throws {RangeError} for a value that is too large */
export function redact(
  value: unknown,
  isSecret: Match,
  left: { nodes: number } = { nodes: MAX_NODES },
): unknown {
  if (typeof value !== "object" || value === null) return value;
  const isList = Array.isArray(value);
  const names = isList ? [] : Object.keys(value);
  left.nodes -= isList ? value.length : names.length;
  if (left.nodes < 0) throw new RangeError("The value is too large");
  if (isList) return value.map((each) => redact(each, isSecret, left));
  return Object.fromEntries(names.map((name) => {
    const member = (value as Record<string, unknown>)[name];
    return [name, isSecret(name) ? REDACTED : redact(member, isSecret, left)];
  }));
}
