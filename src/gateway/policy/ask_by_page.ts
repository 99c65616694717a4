/**
 * Asks the user on a page of this server, whether a call may be made. The client gets the address of the page, and the call
 * waits a while for the answer. A later call with the same arguments finds an answer that came too late.
 *
 * @module
 */
import { createAllowance } from "../../http/network/allowance.ts";
import { principalKey } from "../../mcp/session/principal_key.ts";
import {
  type Approval,
  APPROVAL_LIFETIME_MS,
  approvalKey,
  APPROVALS_PATH,
} from "../../oauth/approvals/approval.ts";
import { putIfAbsent } from "../../store/store.ts";
import { NotApproved, type Question, refused, reportApproval } from "./approval_question.ts";
import type { PolicyServer } from "./policy_server.ts";
import { onceForCall } from "./single_use.ts";

const POLL_MS = 1000;
/** Storage of calls that wait for the page: of one caller, and of all. */
const MAX_CALLER_BYTES = 256 * 1024;
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * Creates what asks on the page. It throws `NotApproved`.
 * @param waitSeconds how long a call waits for the answer
 */
export function createPageAsker(
  server: PolicyServer,
  waitSeconds: number,
): (question: Question) => Promise<void> {
  const { store, now, place } = server;
  const storage = createAllowance({
    perNetwork: MAX_CALLER_BYTES,
    overall: MAX_BYTES,
    windowMs: APPROVAL_LIFETIME_MS,
    now,
  });

  /** Stores the question for the page, unless it waits there already. */
  async function request(question: Question): Promise<void> {
    const { digest, shown, verdict: { reason }, memory, caller } = question;
    const key = approvalKey(digest);
    if (await store.get(key)) return;
    const approval: Approval = {
      user: caller.subject!,
      ...(caller.client !== undefined && { client: caller.client }),
      ...shown,
      ...(reason !== undefined && { reason }),
      ...(memory && { memory }),
      status: "pending",
    };
    const bytes = JSON.stringify(approval).length * 2;
    const seconds = storage.take(principalKey(caller), bytes);
    if (seconds > 0) {
      const message = `Too many calls wait for an approval. Try again in ${seconds} s`;
      throw new NotApproved("denied", "approval_limit", message);
    }
    if (await putIfAbsent(store, key, approval, now() + APPROVAL_LIFETIME_MS)) {
      reportApproval(server, question, "approval_requested", "page");
    }
  }

  /** Whether the user allowed the call within the time that it waits. */
  async function waitForApproval(question: Question): Promise<boolean> {
    const { signal } = question.context;
    for (let waited = 0; waited <= waitSeconds * 1000; waited += POLL_MS) {
      if (await takeApproval(question, server)) return true;
      if (signal.aborted || waited + POLL_MS > waitSeconds * 1000) break;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    return false;
  }

  return async (question) => {
    if (await takeApproval(question, server)) return;
    await request(question);
    const { context, digest, shown } = question;
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
      if (await waitForApproval(question)) return await context.elicitationCompleted(digest);
    }
    throw new NotApproved(
      "asked",
      "approval_pending",
      `This call needs the user's approval. Ask the user to open ${url} and allow it, then make the same call again`,
    );
  };
}

/** Whether the user allowed it on the page; that is used up. @throws {NotApproved} when the user denied it */
async function takeApproval({ context, digest }: Question, server: PolicyServer): Promise<boolean> {
  const { store } = server;
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
