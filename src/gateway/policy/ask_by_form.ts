/**
 * Asks the user by a form of the client (elicitation), whether a call may be made.
 *
 * @module
 */
import { randomId, secretDigest } from "../../crypto/secret.ts";
import { MODERN } from "../../mcp/era.ts";
import type { AnySchema } from "../../mcp/schema/standard_schema.ts";
import { rememberApproval, usedApprovalKey } from "../../oauth/approvals/approval.ts";
import { putIfAbsent } from "../../store/store.ts";
import {
  type ApprovalEvent,
  NotApproved,
  ownerOf,
  type Question,
  refused,
  reportApproval,
} from "./approval_question.ts";
import type { PolicyServer } from "./policy_server.ts";
import { writeQuestion } from "./shown_call.ts";
import { onceForCall, USED_LIFETIME_MS } from "./single_use.ts";

/** The schema of the form. @param remember how long an approval can be remembered, such as `1h`, as the user reads it */
export function createForm(remember: string | undefined): AnySchema {
  if (remember === undefined) return { type: "object", properties: {} };
  return {
    type: "object",
    properties: {
      remember: { type: "boolean", title: `Do not ask again for ${remember}`, default: false },
    },
  };
}

/** @throws {NotApproved} */
export async function askByForm(question: Question, server: PolicyServer, form: AnySchema): Promise<void> {
  const { context, digest, verdict: { reason }, shown, caller } = question;
  const report = (type: ApprovalEvent): void => reportApproval(server, question, type, "form");
  // Each question has its own key, because a handler that runs again may make other calls.
  const key = `approval_${digest}`;
  let nonce: string | undefined;
  // Calls that run again with the answer: each answer counts once, although the client could send it again.
  if (context.revision >= MODERN) {
    nonce = await context.once(key, () => {
      report("approval_requested");
      return randomId("");
    });
  } else report("approval_requested");
  const answer = await context.elicit({
    key,
    message: writeQuestion(shown, { client: caller.client, reason, digest }),
    schema: form,
  });
  if (answer.action !== "accept") {
    report("approval_refused");
    throw refused();
  }
  if (nonce !== undefined) await useAnswer(question, server, key, nonce);
  report("approval_given");
  const content = answer.content as { readonly remember?: unknown };
  if (content.remember === true) await remember(question, server);
}

/** Has the answer to a question count once. @throws {NotApproved} when it was used before */
async function useAnswer(
  { context }: Question,
  server: PolicyServer,
  key: string,
  nonce: string,
): Promise<void> {
  const { store, now } = server;
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

async function remember({ caller, shown, memory }: Question, { store, now }: PolicyServer): Promise<void> {
  if (!memory) return;
  const { client } = caller;
  const call = { ...shown, ...(client !== undefined && { client }) };
  await store.commit({ set: [rememberApproval(ownerOf(caller), call, memory, now())] });
}
