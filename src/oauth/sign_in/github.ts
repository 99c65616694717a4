/**
 * GitHub, which is an OAuth 2.0 server and no OpenID Provider: the user is read from its API
 * (https://docs.github.com/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps).
 *
 * @module
 */
import type { Claims } from "../../crypto/jws.ts";
import { checkConfiguredUrl, type PublicFetch } from "../../http/network/public_fetch.ts";
import { secretDigest } from "../../crypto/secret.ts";
import { type ProviderSettings, SignInError, type SignInProvider, toProviderBase } from "./provider.ts";
import { fetchJson, fetchObject, requestTokens } from "./token_request.ts";

export interface GithubSettings extends ProviderSettings {
  /** Only members of one of these organisations, by login name; asks for the scope `read:org`. @default everyone */
  readonly organizations?: readonly string[];
  /** The address of a GitHub Enterprise Server. @default "https://github.com" */
  readonly server?: string;
  /** The address of its API. @default "https://api.github.com", or `/api/v3` of `server` */
  readonly api?: string;
}

const GITHUB = "https://github.com";
/** Organisations that are read of one user. */
const MAX_ORGANIZATIONS = 100;

/** GitHub. @throws {TypeError} for an invalid address */
export function github(settings: GithubSettings): SignInProvider {
  const { clientId, clientSecret, organizations } = settings;
  const server = (settings.server ?? GITHUB).replace(/\/$/, "");
  const api = (settings.api ?? (server === GITHUB ? "https://api.github.com" : `${server}/api/v3`)).replace(
    /\/$/,
    "",
  );
  const base = toProviderBase(
    { ...settings, ...(organizations && { groups: [...settings.groups ?? [], ...organizations] }) },
    { id: "github", name: "GitHub" },
  );
  for (const url of [server, api]) {
    const problem = checkConfiguredUrl(url);
    if (problem) throw new TypeError(`Cannot create provider "${base.id}": its address ${problem}`);
  }
  const readsOrganizations = base.groups !== undefined || settings.roles !== undefined;
  const scope = `read:user user:email${readsOrganizations ? " read:org" : ""}`;

  return {
    ...base,
    asksAgain: false,
    start(_, { redirect_uri, state, code_verifier, isNewLogin }) {
      const query = new URLSearchParams({
        client_id: clientId,
        redirect_uri,
        scope,
        state,
        // S256 of RFC 7636 is the digest of a secret.
        code_challenge: secretDigest(code_verifier),
        code_challenge_method: "S256",
        // GitHub has no way to ask for the password again.
        ...(isNewLogin && { prompt: "select_account" }),
      });
      return Promise.resolve(`${server}/login/oauth/authorize?${query}`);
    },
    async finish({ fetch }, attempt, parameters) {
      if (attempt.isNewLogin) throw new SignInError("GitHub cannot ask the user to sign in again");
      const { access_token } = await requestTokens(fetch, attempt, {
        endpoint: `${server}/login/oauth/access_token`,
        clientId,
        clientSecret,
        method: "client_secret_post",
        code: parameters.get("code")!,
      });
      const headers = {
        authorization: `Bearer ${access_token}`,
        accept: "application/vnd.github+json",
        // GitHub refuses requests without it.
        "user-agent": "trivet",
      };
      const user = await fetchObject(fetch, `${api}/user`, { headers });
      const { id, login, name } = user;
      if (typeof id !== "number" || typeof login !== "string") {
        throw new SignInError("The API of GitHub returned no user");
      }
      const address = await findEmail(fetch, api, headers);
      const groups = readsOrganizations ? await listOrganizations(fetch, api, headers) : [];
      return {
        issuer: server,
        // The login name can be changed, and taken by another user.
        subject: String(id),
        name: typeof name === "string" && name !== "" ? name : login,
        email: address,
        emailVerified: address !== undefined,
        groups,
        claims: user,
      };
    },
  };
}

/** The primary address if it is verified. The one in the public profile may be another's. */
async function findEmail(
  fetch: PublicFetch,
  api: string,
  headers: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  const addresses = await fetchJson(fetch, `${api}/user/emails`, { headers });
  if (!Array.isArray(addresses)) return undefined;
  const primary = (addresses as Claims[]).find((each) =>
    each?.["primary"] === true && each["verified"] === true
  );
  return typeof primary?.["email"] === "string" ? primary["email"] : undefined;
}

async function listOrganizations(
  fetch: PublicFetch,
  api: string,
  headers: Readonly<Record<string, string>>,
): Promise<string[]> {
  const found = await fetchJson(fetch, `${api}/user/orgs?per_page=${MAX_ORGANIZATIONS}`, { headers });
  if (!Array.isArray(found)) return [];
  return (found as Claims[]).map((each) => each?.["login"]).filter((login) => typeof login === "string");
}
