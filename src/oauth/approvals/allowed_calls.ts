/**
 * `/account/approvals`: the calls that the user need not approve again, and how to take that back.
 *
 * @module
 */
import type { RequestContext } from "../../http/service.ts";
import { notFound, openForm, readDone, redirectDone } from "../account/account_form.ts";
import { openAccount } from "../account/account_user.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { showPage } from "../pages/page.ts";
import {
  approvalMemoriesPrefix,
  type ApprovalMemory,
  approvalMemoryKey,
  APPROVALS_PATH,
} from "./approval.ts";
import { describeCaller } from "./approval_page.ts";

/** Calls that are shown. */
const MAX_SHOWN = 100;

/** `GET`: 200 with the list. */
export async function showAllowedCalls(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
): Promise<Response> {
  const account = await openAccount(as, request);
  if (account instanceof Response) return account;
  const found = await as.store.list<ApprovalMemory>(approvalMemoriesPrefix(account.id), { limit: MAX_SHOWN });
  const calls = await Promise.all(found.map(async ({ key, value, expires = as.now() }) => ({
    tool: value.tool,
    ...(value.upstream !== undefined && { upstream: value.upstream }),
    application: await describeCaller(as, value, context),
    ...(value.arguments && { arguments: value.arguments }),
    until: expires,
    end: { action: as.base + APPROVALS_PATH, hidden: { call: String(key.at(-1)) } },
  })));
  const isDone = readDone(request, account, ["call"]) !== undefined;
  return await showPage(as, request, { name: "allowed_calls", calls, isDone }, { formAction: "'self'" });
}

/** `POST` with `call`: 303 to the list. 404 for a call that the user did not allow. */
export async function endAllowedCall(as: AuthorizationServer, request: Request): Promise<Response> {
  const form = await openForm(as, request);
  if (form instanceof Response) return form;
  const { account, values, store } = form;
  const id = values.get("call") ?? "";
  const key = approvalMemoryKey(account.id, id);
  if (id === "" || !await as.store.get(key)) return await notFound(as, request);
  await store.commit({ remove: [key] });
  return redirectDone(as, APPROVALS_PATH, "call", account.signedIn.session);
}
