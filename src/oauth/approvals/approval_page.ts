/**
 * `/account/approvals/ID`: the user sees a call of a tool, and allows it once or denies it. Only the user for whom the call is
 * made sees it.
 *
 * @module
 */
import type { PathParameters } from "../../http/router.ts";
import type { RequestContext } from "../../http/service.ts";
import type { Entry } from "../../store/store.ts";
import { notFound, openForm } from "../account/account_form.ts";
import { openAccount } from "../account/account_user.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { findAvailableClient } from "../clients/client.ts";
import { describeAccount, describeApplication } from "../consent/access_description.ts";
import { parseDecision } from "../consent/decision.ts";
import type { ApplicationView } from "../pages/basic_views.ts";
import { showPage } from "../pages/page.ts";
import {
  type Approval,
  APPROVAL_LIFETIME_MS,
  approvalKey,
  APPROVALS_PATH,
  rememberApproval,
} from "./approval.ts";

/** No form of these pages redirects to another site. */
const OWN_FORMS = { formAction: "'self'" } as const;

/** `GET`: 200 with the call, or with the outcome. 404 for a call of another user, or one that no longer waits. */
export async function showApproval(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
  { id = "" }: PathParameters,
): Promise<Response> {
  const account = await openAccount(as, request);
  if (account instanceof Response) return account;
  const entry = await findApproval(as, id, account.id);
  if (!entry) return await notFound(as, request);
  const { value } = entry;
  if (value.status !== "pending") return await showOutcome(as, request, value.status === "approved");
  const { tool, upstream, more, reason, memory } = value;
  return await showPage(as, request, {
    name: "approval",
    action: `${as.base}${APPROVALS_PATH}/${encodeURIComponent(id)}`,
    hidden: {},
    application: await describeCaller(as, value, context),
    account: describeAccount(
      as,
      account.signedIn.user,
      `${as.base}${APPROVALS_PATH}/${encodeURIComponent(id)}`,
    ),
    tool,
    ...(upstream !== undefined && { upstream }),
    arguments: value.arguments,
    more,
    ...(reason !== undefined && { reason }),
    ...(memory && { remember: memory.seconds }),
  }, OWN_FORMS);
}

/** `POST` with `decision`, and `remember`: 200 with the outcome. The first decision stands. */
export async function decideApproval(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
  { id = "" }: PathParameters,
): Promise<Response> {
  const form = await openForm(as, request);
  if (form instanceof Response) return form;
  const { account, values, store } = form;
  const isApproved = parseDecision(values) === "approve";
  const entry = await findApproval(as, id, account.id);
  if (!entry) return await notFound(as, request);
  const { key, version, value } = entry;
  // The button was clicked twice, or the browser went back.
  if (value.status !== "pending") return await showOutcome(as, request, value.status === "approved");
  const { memory, client, tool, upstream } = value;
  const decided: Approval = { ...value, status: isApproved ? "approved" : "refused" };
  const isRemembered = isApproved && memory !== undefined && values.get("remember") === "on";
  const done = await store.commit({
    check: [{ key, version }],
    set: [
      { key, value: decided, expires: as.now() + APPROVAL_LIFETIME_MS },
      ...isRemembered ? [rememberApproval(account.id, value, memory, as.now())] : [],
    ],
  });
  // Decided meanwhile: the page shows how.
  if (!done) return await showApproval(as, request, context, { id });
  as.observe({
    type: isApproved ? "approval_given" : "approval_refused",
    user: account.id,
    client,
    tool,
    upstream,
    by: "page",
    arguments_digest: id,
  });
  return await showOutcome(as, request, isApproved);
}

/** The call, if it waits for this user. */
async function findApproval(
  as: AuthorizationServer,
  id: string,
  user: string,
): Promise<Entry<Approval> | undefined> {
  if (!/^[\w-]{43}$/.test(id)) return undefined;
  const entry = await as.store.get<Approval>(approvalKey(id));
  return entry?.value.user === user ? entry : undefined;
}

/** The application that calls. */
export async function describeCaller(
  as: AuthorizationServer,
  { client: id }: Pick<Approval, "client">,
  context: RequestContext,
): Promise<ApplicationView> {
  if (id === undefined) return { name: "?", isVerified: false };
  const client = await findAvailableClient(as, id, context);
  const source = id.startsWith("https://") ? "document" : "registration";
  return describeApplication(client ?? { id, name: id, source });
}

async function showOutcome(
  as: AuthorizationServer,
  request: Request,
  isApproved: boolean,
): Promise<Response> {
  const name = isApproved ? "approval_given" : "approval_refused";
  const view = { name, allowedCalls: as.base + APPROVALS_PATH } as const;
  return await showPage(as, request, view, { formAction: "'none'" });
}
