/**
 * Asks the user whether a call may be made: by a form of the client, or on a page of this server. An approval is for one
 * caller, MCP server, definition of a tool and list of arguments, and is used once, unless the user has it remembered.
 *
 * @module
 */
import type { CallContext } from "../../mcp/context.ts";
import { MissingCapabilityError } from "../../mcp/error.ts";
import { principalKey } from "../../mcp/session/principal_key.ts";
import { approvalMemoryKey } from "../../oauth/approvals/approval.ts";
import { NotApproved, ownerOf, type Question } from "./approval_question.ts";
import { askByForm, createForm } from "./ask_by_form.ts";
import { createPageAsker } from "./ask_by_page.ts";
import { readDuration } from "./call_limits.ts";
import type { RecordedUse } from "./call_record.ts";
import { digestJson } from "./canonical_json.ts";
import { PolicyError } from "./condition.ts";
import { digestTool } from "./held/tool_entry.ts";
import type { PolicyServer } from "./policy_server.ts";
import type { AskOptions } from "./policy_options.ts";
import { checkMembers, type Verdict } from "./rules.ts";
import { showCall } from "./shown_call.ts";

/** Asks the user. Resolves when the call is approved. @throws {NotApproved} */
export type Ask = (use: RecordedUse, verdict: Verdict, context: CallContext) => Promise<void>;

const MEMBERS: ReadonlySet<string> = new Set<keyof AskOptions>(["remember", "rememberFor", "by", "wait"]);
const MAX_WAIT_SECONDS = 300;

/** @throws {PolicyError} */
export function createAsk(options: AskOptions, server: PolicyServer): Ask {
  checkMembers(options, MEMBERS, "ask");
  const { store, hasPages } = server;
  const { remember, rememberFor = "arguments", by = "form", wait = 30 } = options;
  const seconds = remember === undefined ? undefined : readDuration(remember, "ask.remember");
  if (rememberFor !== "arguments" && rememberFor !== "tool") {
    throw new PolicyError("ask.rememberFor", "must be arguments or tool");
  }
  if (by !== "form" && by !== "page") throw new PolicyError("ask.by", "must be form or page");
  if (by === "page" && !hasPages) throw new PolicyError("ask.by", "must be form where no user signs in");
  if (!Number.isFinite(wait) || wait < 0 || wait > MAX_WAIT_SECONDS) {
    throw new PolicyError("ask.wait", `must be a number of seconds from 0 to ${MAX_WAIT_SECONDS}`);
  }
  const form = createForm(remember);
  const askByPage = createPageAsker(server, wait);

  /** @throws {NotApproved} for a call that no user can be asked about */
  function toQuestion(use: RecordedUse, verdict: Verdict, context: CallContext): Question {
    const { principal: caller } = context;
    const { definition, name, input } = use;
    if (!caller) {
      throw new NotApproved("denied", "anonymous", "This call needs the approval of a user who is signed in");
    }
    const { upstream, serverDigest, kind } = definition;
    // Neither another server of this name nor another definition of this tool is what the user allowed.
    const entry = upstream !== undefined && kind === "tool" ? digestTool(definition)?.digest : "";
    const who = [principalKey(caller), upstream ?? "", serverDigest ?? "", kind, name, entry ?? ""];
    let digest: string;
    try {
      digest = digestJson([...who, input ?? null]);
    } catch {
      throw new NotApproved("denied", "arguments", "The arguments cannot be shown to the user for approval");
    }
    // Two definitions that are too large for a digest cannot be distinguished.
    const memory = seconds === undefined || entry === undefined ? undefined : {
      digest: digestJson([...who, verdict.id, rememberFor, rememberFor === "tool" ? null : input ?? null]),
      seconds,
      hasArguments: rememberFor === "arguments",
    };
    return { use, verdict, context, caller, digest, memory, shown: showCall(definition, name, input) };
  }

  return async (use, verdict, context) => {
    const question = toQuestion(use, verdict, context);
    const { caller, memory } = question;
    if (memory && await store.get(approvalMemoryKey(ownerOf(caller), memory.digest))) return;
    // Only a user of this server can sign in to approve.
    const hasPage = hasPages && caller.subject !== undefined && caller.issuer === undefined;
    if (context.can("elicitation") && !(by === "page" && hasPage)) {
      try {
        return await askByForm(question, server, form);
      } catch (error) {
        // Declared, but the client does not listen for requests.
        if (!(error instanceof MissingCapabilityError && hasPage)) throw error;
      }
    }
    if (hasPage) return await askByPage(question);
    throw new NotApproved(
      "denied",
      "cannot_ask",
      "This call needs the user's approval, and the client cannot show forms (elicitation)",
    );
  };
}
