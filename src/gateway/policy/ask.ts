/**
 * Asks the user whether a call may be made: by a form of the client, or on a page of this server. An approval is for one
 * caller, tool and list of arguments, and is used once, unless the user has it remembered.
 *
 * @module
 */
import { createAllowance } from "../../http/network/allowance.ts";
import type { Principal } from "../../http/principal.ts";
import { randomId, secretDigest } from "../../crypto/secret.ts";
import type { CallContext } from "../../mcp/context.ts";
import { MODERN } from "../../mcp/era.ts";
import { MissingCapabilityError } from "../../mcp/error.ts";
import { principalKey } from "../../mcp/session/principal_key.ts";
import {
  type Approval,
  APPROVAL_LIFETIME_MS,
  approvalKey,
  approvalMemoryKey,
  APPROVALS_PATH,
  rememberApproval,
  usedApprovalKey,
} from "../../oauth/approvals/approval.ts";
import { putIfAbsent } from "../../store/store.ts";
import { readDuration } from "./call_limits.ts";
import type { RecordedUse } from "./call_record.ts";
import { digestJson } from "./canonical_json.ts";
import { PolicyError } from "./condition.ts";
import type { PolicyServer } from "./policy_server.ts";
import type { AskOptions } from "./policy_options.ts";
import { checkMembers, type Verdict } from "./rules.ts";
import { showCall, type ShownCall, writeQuestion } from "./shown_call.ts";
import { onceForCall, USED_LIFETIME_MS } from "./single_use.ts";

/** The user did not approve the call, or cannot. */
export class NotApproved extends Error {
  override readonly name = "NotApproved";
  /** `asked`: the user has not answered yet. */
  readonly outcome: "denied" | "asked";
  /** A code for the audit trail. */
  readonly reason: string;

  constructor(outcome: "denied" | "asked", reason: string, message: string) {
    super(message);
    this.outcome = outcome;
    this.reason = reason;
  }
}

/** Asks the user. Resolves when the call is approved. @throws {NotApproved} */
export type Ask = (use: RecordedUse, verdict: Verdict, context: CallContext) => Promise<void>;

const MEMBERS: ReadonlySet<string> = new Set<keyof AskOptions>(["remember", "rememberFor", "by", "wait"]);
const MAX_WAIT_SECONDS = 300;
const POLL_MS = 1000;
/** Storage of calls that wait for the page: of one caller, and of all. */
const MAX_CALLER_BYTES = 256 * 1024;
const MAX_BYTES = 64 * 1024 * 1024;
const FORM = { type: "object", properties: {} } as const;

/** One question. */
interface Question {
  readonly use: RecordedUse;
  readonly verdict: Verdict;
  readonly context: CallContext;
  readonly caller: Principal;
  /** Of caller, tool and arguments. */
  readonly digest: string;
  readonly memory: Approval["memory"];
  readonly shown: ShownCall;
}

/** @throws {PolicyError} */
export function createAsk(options: AskOptions, server: PolicyServer): Ask {
  checkMembers(options, MEMBERS, "ask");
  const { store, now, observe, place, hasPages } = server;
  const { rememberFor = "arguments", by = "form", wait = 30 } = options;
  const seconds = options.remember === undefined ? undefined : readDuration(options.remember, "ask.remember");
  if (rememberFor !== "arguments" && rememberFor !== "tool") {
    throw new PolicyError("ask.rememberFor", "must be arguments or tool");
  }
  if (by !== "form" && by !== "page") throw new PolicyError("ask.by", "must be form or page");
  if (by === "page" && !hasPages) throw new PolicyError("ask.by", "must be form where no user signs in");
  if (!Number.isFinite(wait) || wait < 0 || wait > MAX_WAIT_SECONDS) {
    throw new PolicyError("ask.wait", `must be a number of seconds from 0 to ${MAX_WAIT_SECONDS}`);
  }
  const storage = createAllowance({
    perNetwork: MAX_CALLER_BYTES,
    overall: MAX_BYTES,
    windowMs: APPROVAL_LIFETIME_MS,
    now,
  });
  const form = seconds === undefined ? FORM : {
    type: "object",
    properties: {
      remember: { type: "boolean", title: `Do not ask again for ${options.remember}`, default: false },
    },
  };

  function report(
    question: Question,
    type: "approval_requested" | "approval_given" | "approval_refused",
    by: "form" | "page",
  ) {
    const { use: { definition, name }, caller, digest } = question;
    observe({
      type,
      user: caller.subject,
      client: caller.client,
      tool: name,
      upstream: definition.upstream,
      by,
      arguments_digest: digest,
    });
  }

  /** Asks by a form of the client. */
  async function askByForm(question: Question): Promise<void> {
    const { context, digest, verdict: { reason }, shown, memory, caller } = question;
    // Each question has its own key, because a handler that runs again may make other calls.
    const key = `approval_${digest}`;
    let nonce: string | undefined;
    // Calls that run again with the answer: each answer counts once, although the client could send it again.
    if (context.revision >= MODERN) {
      nonce = await context.once(key, () => {
        report(question, "approval_requested", "form");
        return randomId("");
      });
    } else report(question, "approval_requested", "form");
    const answer = await context.elicit({
      key,
      message: writeQuestion(shown, { client: caller.client, reason, digest }),
      schema: form,
    });
    if (answer.action !== "accept") {
      report(question, "approval_refused", "form");
      throw refused();
    }
    if (nonce !== undefined) {
      const used = usedApprovalKey(secretDigest(nonce));
      await onceForCall(context, server, `${key}_used`, async () => {
        if (await putIfAbsent(store, used, true, now() + USED_LIFETIME_MS)) return true;
        throw new NotApproved(
          "denied",
          "approval_used",
          "This approval was used already. Call the tool again",
        );
      });
    }
    report(question, "approval_given", "form");
    const { remember } = answer.content as { readonly remember?: unknown };
    if (remember === true && memory) {
      const { client } = caller;
      const call = { ...shown, ...(client !== undefined && { client }) };
      await store.commit({ set: [rememberApproval(ownerOf(caller), call, memory, now())] });
    }
  }

  /** Whether the user allowed it on the page; that is used up. @throws {NotApproved} when the user denied it */
  async function takeApproval({ context, digest }: Question): Promise<boolean> {
    const key = approvalKey(digest);
    const WAITS = Symbol("waits");
    try {
      // Kept for the runs that follow with the answers to what the tool asks.
      return await onceForCall(context, server, `approved_${digest}`, async () => {
        const entry = await store.get<Approval>(key);
        if (entry?.value.status === "refused") throw refused();
        const isApproved = entry?.value.status === "approved" &&
          await store.commit({ check: [{ key, version: entry.version }], remove: [key] });
        if (isApproved) return true;
        throw WAITS;
      });
    } catch (error) {
      if (error === WAITS) return false;
      throw error;
    }
  }

  /** Asks on a page of this server. */
  async function askByPage(question: Question): Promise<void> {
    if (await takeApproval(question)) return;
    const { context, digest, shown, verdict: { reason }, memory, caller } = question;
    const approval: Approval = {
      user: caller.subject!,
      ...(caller.client !== undefined && { client: caller.client }),
      ...shown,
      ...(reason !== undefined && { reason }),
      ...(memory && { memory }),
      status: "pending",
    };
    const key = approvalKey(digest);
    if (!await store.get(key)) {
      const bytes = JSON.stringify(approval).length * 2;
      const seconds = storage.take(principalKey(caller), bytes);
      if (seconds > 0) {
        const message = `Too many calls wait for an approval. Try again in ${seconds} s`;
        throw new NotApproved("denied", "approval_limit", message);
      }
      if (await putIfAbsent(store, key, approval, now() + APPROVAL_LIFETIME_MS)) {
        report(question, "approval_requested", "page");
      }
    }
    const url = `${place}${APPROVALS_PATH}/${digest}`;
    if (context.can("elicitation.url")) {
      const answer = await context.elicit({
        mode: "url",
        key: `approval_page_${digest}`,
        message: `Allow the call of ${shown.tool} on this page`,
        url,
        elicitationId: digest,
      });
      if (answer.action !== "accept") throw refused();
      for (let waited = 0; waited <= wait * 1000; waited += POLL_MS) {
        if (await takeApproval(question)) {
          await context.elicitationCompleted(digest);
          return;
        }
        if (context.signal.aborted || waited + POLL_MS > wait * 1000) break;
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
    }
    throw new NotApproved(
      "asked",
      "approval_pending",
      `This call needs the user's approval. Ask the user to open ${url} and allow it, then make the same call again`,
    );
  }

  return async (use, verdict, context) => {
    const { principal: caller } = context;
    const { definition, name, input } = use;
    if (!caller) {
      throw new NotApproved("denied", "anonymous", "This call needs the approval of a user who is signed in");
    }
    const who = [principalKey(caller), definition.upstream ?? "", definition.kind, name];
    let digest: string;
    try {
      digest = digestJson([...who, input ?? null]);
    } catch {
      throw new NotApproved("denied", "arguments", "The arguments cannot be shown to the user for approval");
    }
    const memory = seconds === undefined ? undefined : {
      digest: digestJson([...who, verdict.id, rememberFor, rememberFor === "tool" ? null : input ?? null]),
      seconds,
      hasArguments: rememberFor === "arguments",
    };
    if (memory && await store.get(approvalMemoryKey(ownerOf(caller), memory.digest))) return;
    const question: Question = {
      use,
      verdict,
      context,
      caller,
      digest,
      memory,
      shown: showCall(definition, name, input),
    };
    // Only a user of this server can sign in to approve.
    const hasPage = hasPages && caller.subject !== undefined && caller.issuer === undefined;
    if (context.can("elicitation") && !(by === "page" && hasPage)) {
      try {
        return await askByForm(question);
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

/** A user of this server sees and takes back what is remembered for them; other callers have no page. */
function ownerOf(caller: Principal): string {
  const { subject, issuer } = caller;
  return subject !== undefined && issuer === undefined
    ? subject
    : digestJson(["other", principalKey(caller)]);
}

function refused(): NotApproved {
  return new NotApproved("denied", "refused_by_user", "The user did not allow this call");
}
