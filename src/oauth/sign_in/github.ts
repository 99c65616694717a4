/**
 * GitHub, which is an OAuth 2.0 server and no OpenID Provider: the user is read from its API
 * (https://docs.github.com/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps).
 *
 * @module
 */
import { checkNames, type Names } from "../../options/option_check.ts";
import type { Claims } from "../../crypto/jws.ts";
import { checkConfiguredUrl, type PublicFetch } from "../../http/network/public_fetch.ts";
import { secretDigest } from "../../crypto/secret.ts";
import {
  PROVIDER_NAMES,
  type ProviderContext,
  type ProviderSettings,
  SignInError,
  type SignInProvider,
  toProviderBase,
} from "./provider.ts";
import { fetchJson, fetchObject, type ProviderClient, redeemCode, refreshTokens } from "./token_request.ts";

/** Settings of GitHub. */
export interface GithubSettings extends ProviderSettings {
  /** Only members of one of these organisations, by login name; asks for the scope `read:org`. @default everyone */
  readonly organizations?: readonly string[];
  /** The address of a GitHub Enterprise Server. @default "https://github.com" */
  readonly server?: string;
  /** The address of its API. @default "https://api.github.com", or `/api/v3` of `server` */
  readonly api?: string;
}

const NAMES: Names<GithubSettings> = {
  ...PROVIDER_NAMES,
  organizations: "string[]",
  server: "string",
  api: "string",
};
const GITHUB = "https://github.com";
/** Organisations, and addresses, that are read of one user. */
const PAGE = "per_page=100";

/** GitHub. @throws {TypeError} for an invalid address */
export function github(settings: GithubSettings): SignInProvider {
  checkNames("github", settings, NAMES);
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
  const readsOrganizations = [base.groups, base.roles, base.scopes].some((each) => each !== undefined);
  const named = [base.groups ?? [], ...Object.values(base.roles ?? {}), ...Object.values(base.scopes ?? {})]
    .flat();
  // GitHub compares login names in any case: the settings may have another spelling than its API.
  const spell = (login: string): string[] => [
    login,
    ...named.filter((each) => each !== login && each.toLowerCase() === login.toLowerCase()),
  ];
  const client: ProviderClient = { clientId, clientSecret, method: "client_secret_post" };
  const tokenEndpoint = `${server}/login/oauth/access_token`;
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
      const tokens = await redeemCode(fetch, tokenEndpoint, client, attempt, parameters.get("code")!);
      const headers = { ...FIELDS, authorization: `Bearer ${tokens.access_token}` };
      const user = await fetchObject(fetch, `${api}/user`, { headers });
      const { id, login, name } = user;
      if (typeof id !== "number" || typeof login !== "string") {
        throw new SignInError("The API of GitHub returned no user");
      }
      const address = await findEmail(fetch, api, headers);
      const groups = readsOrganizations ? (await listOrganizations(fetch, api, headers)).flatMap(spell) : [];
      return {
        issuer: server,
        // The login name can be changed, and taken by another user.
        subject: String(id),
        name: typeof name === "string" && name !== "" ? name : login,
        email: address,
        emailVerified: address !== undefined,
        groups,
        claims: user,
        ...(base.keepTokens && { tokens }),
      };
    },
    // Tokens of a GitHub App expire; those of an OAuth app do not, and come without a refresh token.
    refreshTokens: ({ fetch }, refresh_token) => refreshTokens(fetch, tokenEndpoint, client, refresh_token),
    // https://docs.github.com/rest/apps/oauth-applications#delete-an-app-token
    async revokeTokens({ fetch }: ProviderContext, { access_token }) {
      await fetch(`${api}/applications/${encodeURIComponent(clientId)}/token`, {
        method: "DELETE",
        headers: {
          ...FIELDS,
          authorization: `Basic ${btoa(`${clientId}:${clientSecret ?? ""}`)}`,
          "content-type": "application/json",
        },
        body: JSON.stringify({ access_token }),
        // 404 and 422: the token had ended before.
        statuses: [204, 404, 422],
      });
    },
  };
}

const FIELDS = {
  accept: "application/vnd.github+json",
  // GitHub refuses requests without it.
  "user-agent": "trivet",
};

/**
 * The primary address if it is verified. The one in the public profile may be another's. `undefined` also where the
 * application may not read addresses: a GitHub App needs a permission, and users can take the scope away.
 */
async function findEmail(
  fetch: PublicFetch,
  api: string,
  headers: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  const statuses = [200, 403, 404];
  const addresses = await fetchJson(fetch, `${api}/user/emails?${PAGE}`, { headers, statuses });
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
  const found = await fetchJson(fetch, `${api}/user/orgs?${PAGE}`, { headers });
  if (!Array.isArray(found)) return [];
  return (found as Claims[]).map((each) => each?.["login"]).filter((login) => typeof login === "string");
}
