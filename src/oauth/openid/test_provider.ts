/**
 * The small authorization server of `test_server.ts` with OpenID Connect on. Only tests import this.
 *
 * @module
 */
import { type Claims, readJws, verifyJws } from "../../crypto/jws.ts";
import { importPublicJwk, type PublicJwk } from "../../crypto/jwk.ts";
import type { AuthorizationServerOptions } from "../authorization_server.ts";
import { toClient } from "../clients/client.ts";
import type { ClientRegistration } from "../clients/client_registration.ts";
import { APP_URI, CLIENTS, newServer, type TestServer } from "../test_server.ts";
import { completeOpenId, OPENID_SCOPES, type OpenIdOptions } from "./options.ts";

export interface TestProvider extends TestServer {
  /** Runs the code flow with the scope `openid`; the token response with the verified claims of the ID token. */
  signInWith(parameters?: Record<string, string | undefined>): Promise<{
    readonly tokens: Record<string, string>;
    readonly header: Claims;
    readonly claims: Claims;
  }>;
  /** The header and claims of a JWT, verified with the published keys. */
  verify(jwt: string): Promise<{ header: Claims; claims: Claims }>;
}

/** @param more clients beside the usual ones */
export async function newProvider(
  openid: OpenIdOptions = {},
  options: Partial<AuthorizationServerOptions> = {},
  more: readonly ClientRegistration[] = [],
): Promise<TestProvider> {
  const server = await newServer({
    openid: completeOpenId(openid),
    scopes: {
      profile: "See your name",
      read: "Read your data",
      write: "Change your data",
      admin: "Everything",
      ...OPENID_SCOPES,
    },
    signingAlgorithms: ["ES256", "RS256", "Ed25519", "EdDSA"],
    clients: [...CLIENTS, ...more].map((client) => toClient(client, 0)),
    ...options,
  });
  async function verify(jwt: string) {
    const { keys } = await (await server.send("/.well-known/jwks.json")).json() as { keys: PublicJwk[] };
    const { header } = readJws(jwt)!;
    const jwk = keys.find(({ kid }) => kid === header.kid);
    if (!jwk) throw new Error("The key of the JWT is not published");
    const claims = await verifyJws(await importPublicJwk(jwk, header.alg as "RS256"), undefined, jwt);
    if (!claims) throw new Error("The signature is invalid");
    return { header, claims };
  }
  return {
    ...server,
    verify,
    async signInWith(parameters) {
      const given: Record<string, string | undefined> = { scope: "openid", ...parameters };
      const code = (await server.authorize(given)).get("code")!;
      const form = { grant_type: "authorization_code", code, redirect_uri: given.redirect_uri ?? APP_URI };
      const client = parameters?.client_id;
      const secrets = client === undefined ? {} : { client_id: client, client_secret: `secret of ${client}` };
      const tokens = await (await server.token({ ...form, ...secrets })).json();
      return { tokens, ...await verify(tokens.id_token) };
    },
  };
}
