/**
 * `/account/providers`: the accounts at identity providers that the user can sign in with. Unlinks one, and begins to link
 * another.
 *
 * @module
 */
import type { RequestContext } from "../../http/service.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { showPage } from "../pages/page.ts";
import { readProviderTokens } from "../sign_in/provider_tokens.ts";
import { beginLink } from "../sign_in/sign_in.ts";
import { type LinkedIdentity, unlinkIdentity } from "../sign_in/user_identity.ts";
import { findWayWithoutProviders } from "../users/sign_in_ways.ts";
import { notFound, openForm, readDone, redirectDone, revokeLater } from "./account_form.ts";
import { type Account, openAccount } from "./account_user.ts";
import type { AccountProvidersView } from "./account_views.ts";

const PATH = "/account/providers";

type Problem = NonNullable<AccountProvidersView["problem"]>;

/** `GET`: 200 with the list; 404 for a user of another system. */
export async function showProviders(as: AuthorizationServer, request: Request): Promise<Response> {
  const account = await openAccount(as, request);
  if (account instanceof Response) return account;
  const done = readDone(request, account, ["linked", "unlinked", "other_user", "too_many"]);
  return done === "other_user" || done === "too_many"
    ? await providersPage(as, request, account, { problem: done })
    : await providersPage(as, request, account, { ...(done && { done }) });
}

/**
 * `POST` with `issuer` and `subject` to unlink (303 to the list, 400 for the last way to sign in), or with the id of a provider
 * as `link` (303 to the provider). 404 for what does not exist or is another user's. Needs a recent login.
 */
export async function changeProviders(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
): Promise<Response> {
  const form = await openForm(as, request, { isRecent: true });
  if (form instanceof Response) return form;
  const { account, values, store } = form;
  if (account.isExternal) return await notFound(as, request);
  const link = values.get("link");
  if (link !== undefined) {
    return await beginLink(as, request, account.signedIn, link) ?? await notFound(as, request);
  }
  const identity = { issuer: values.get("issuer") ?? "", subject: values.get("subject") ?? "" };
  const known = account.identities.find((each) => isSame(each, identity));
  if (!known) return await notFound(as, request);
  const { provider } = known;
  const kept = await readProviderTokens(as, account.id);
  const outcome = await unlinkIdentity(
    store,
    account.id,
    identity,
    () => findWayWithoutProviders(as, account.id),
    as.providers.isUsable,
  );
  if (outcome === "unknown") return await notFound(as, request);
  if (outcome === "last") return await providersPage(as, request, account, { problem: "last" });
  // Those of other identities stay.
  const left = new Set((await readProviderTokens(as, account.id)).map(({ provider }) => provider));
  revokeLater(as, context, account.id, kept.filter(({ provider }) => !left.has(provider)));
  as.observe({ type: "identity_unlinked", user: account.id, provider, ip: context.ip });
  return redirectDone(as, PATH, "unlinked", account.signedIn.session);
}

function isSame(a: LinkedIdentity, b: Pick<LinkedIdentity, "issuer" | "subject">): boolean {
  return a.issuer === b.issuer && a.subject === b.subject;
}

async function providersPage(
  as: AuthorizationServer,
  request: Request,
  account: Account,
  state: { readonly done?: "linked" | "unlinked"; readonly problem?: Problem },
): Promise<Response> {
  if (account.isExternal) return await notFound(as, request);
  const { identities } = account;
  const providers = await as.providers.list();
  const nameOf = (id: string) => providers.find((each) => each.id === id)?.name ?? id;
  const usable = identities.filter(({ provider }) => providers.some(({ id }) => id === provider));
  const mayUnlinkAll = account.hasPassword || await findWayWithoutProviders(as, account.id) !== undefined;
  const action = as.base + PATH;
  // Without `form-action`: the form to link leads to the provider.
  return await showPage(as, request, {
    name: "account_providers",
    account: `${as.base}/account`,
    linked: identities.map((each) => ({
      provider: nameOf(each.provider),
      label: each.label,
      linked: each.linked,
      ...((mayUnlinkAll || usable.some((other) => other !== each)) && {
        unlink: { action, hidden: { issuer: each.issuer, subject: each.subject } },
      }),
    })),
    available: providers.map(({ id, name }) => ({ provider: name, link: { action, hidden: { link: id } } })),
    ...state,
  }, { status: state.problem === "last" ? 400 : 200 });
}
