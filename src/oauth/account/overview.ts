/**
 * `GET /account`: who is signed in, and the pages that apply to them.
 *
 * @module
 */
import type { AuthorizationServer } from "../authorization_server.ts";
import { showPage } from "../pages/page.ts";
import { type Account, openAccount } from "./account_user.ts";
import type { AccountSectionView } from "./account_views.ts";

/** 200 with the page, or 302 to the login page. */
export async function showOverview(as: AuthorizationServer, request: Request): Promise<Response> {
  const account = await openAccount(as, request);
  if (account instanceof Response) return account;
  const { name, email, own } = account;
  return await showPage(as, request, {
    name: "account",
    user: { name, email, ...(own && { username: own.username }) },
    sections: await sectionsOf(as, account),
    signOut: `${as.base}/logout`,
  }, { formAction: "'none'" });
}

async function sectionsOf(as: AuthorizationServer, account: Account): Promise<AccountSectionView[]> {
  const { isExternal, identities, mayHavePassword } = account;
  const section = (name: AccountSectionView["section"]) => ({
    section: name,
    url: `${as.base}/account/${name}`,
  });
  const hasProviders = !isExternal && (identities.length > 0 || (await as.providers.list()).length > 0);
  return [
    ...isExternal ? [] : [section("profile")],
    ...mayHavePassword ? [section("password")] : [],
    ...isExternal || !hasFactors(as) ? [] : [section("factors")],
    section("sessions"),
    section("applications"),
    ...hasProviders ? [section("providers")] : [],
    ...as.connections ? [section("connections"), section("approvals")] : [],
    section("data"),
  ];
}

/** Whether the pages of `../factors/` are there. */
function hasFactors({ factors }: AuthorizationServer): boolean {
  return factors.totp || factors.passkeys !== undefined;
}
