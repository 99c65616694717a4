/**
 * Faults in the redemption of ID-JAGs for the MCP server (enterprise-managed authorization).
 *
 * @module
 */
import { readFileSync } from "node:fs";
import { fromBase64url, toText } from "../../runner/exchange/bytes.ts";
import { signJws } from "../../runner/vector/jws.ts";
import type { JsonObject } from "../../runner/vector/vector_file.ts";
import { issueRefusedTokens, type Refused } from "../accept_refused.ts";
import {
  changeJson,
  changeResponses,
  METADATA,
  onPath,
  readForm,
  TOKEN,
  withForm,
  withHeaders,
} from "../http_faults.ts";
import type { Mutant, Wrap } from "../mutant.ts";
import { MCP, retryWithToken } from "./mcp_access.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `mcp/enterprise/${id}`);
const GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const ISSUER = "https://trivet.example";
const PROVIDER = JSON.parse(
  readFileSync(new URL("../../targets/trivet.json", import.meta.url), "utf8"),
).vars.enterprise;

type Members = Record<string, unknown>;

const isGrant = (form: URLSearchParams | undefined): form is URLSearchParams =>
  form?.get("grant_type") === GRANT;

/** The header (0) or the claims (1) of a JWT; `undefined` for other text. */
function readPart(text: string, at: 0 | 1): Members | undefined {
  try {
    return JSON.parse(toText(fromBase64url(text.split(".")[at] ?? "")));
  } catch (error) {
    if (error instanceof Error) return undefined;
    throw error;
  }
}

const isIdJag = (text: string | null): boolean => readPart(text ?? "", 0)?.["typ"] === "oauth-id-jag+jwt";

/** Issues tokens for refused assertions that match. */
const accept = (isAccepted: (refused: Refused) => boolean): Wrap =>
  issueRefusedTokens((refused) => isGrant(refused.form) && isAccepted(refused));

const acceptError = (description: RegExp): Wrap => accept((refused) => description.test(refused.description));

/** Replaces assertions of the identity provider by others, signed with its key: the server ignores what changes. */
const replaceClaims = (change: (claims: Members) => Members | undefined): Wrap =>
  onPath(TOKEN, (next) => async (request) => {
    const form = await readForm(request);
    const assertion = isGrant(form) ? form.get("assertion") ?? "" : "";
    const [header, claims] = [readPart(assertion, 0), readPart(assertion, 1)];
    const changed = header && claims && change(claims);
    if (!changed) return await next(request);
    form!.set(
      "assertion",
      await signJws({ alg: "ES256", ...header } as JsonObject, changed, PROVIDER.private),
    );
    return await next(withForm(request, form!));
  });

const changeTokenResponses = (change: (json: Members) => void): Wrap => (next) => async (request) =>
  isGrant(await readForm(request.clone() as Request))
    ? await changeJson(TOKEN, (json) => void change(json))(next)(request)
    : await next(request);

export const MCP_ENTERPRISE: readonly Mutant[] = [
  {
    name: "mcp/enterprise-refused",
    fault: "Refuses every ID-JAG",
    wrap: replaceClaims((claims) => ({ ...claims, iss: "https://another-idp.example" })),
    killedBy: names("redeemed", "audience-in-a-list", "details-granted", "bound-with-proof", "race"),
    mayFail: { "They need a token": names("") },
    preventsSetup: "They use the token",
  },
  {
    name: "mcp/enterprise-any-typ",
    fault: "Does not check typ",
    wrap: acceptError(/typ must be/),
    killedBy: names("typ-missing", "typ-jwt", "typ-of-an-id-token"),
  },
  {
    name: "mcp/enterprise-any-audience",
    fault: "Does not check aud",
    wrap: acceptError(/aud must be/),
    killedBy: names(
      "audience-is-the-mcp-server",
      "audience-is-the-token-endpoint",
      "audience-longer",
      "audience-is-the-client",
      "audience-missing",
    ),
  },
  {
    name: "mcp/enterprise-audience-as-text",
    fault: "Accepts an aud only as a string",
    wrap: replaceClaims((claims) =>
      Array.isArray(claims["aud"]) ? { ...claims, aud: "https://other.example" } : undefined
    ),
    killedBy: names("audience-in-a-list"),
  },
  {
    name: "mcp/enterprise-resource-as-text",
    fault: "Ignores a resource that is a list",
    wrap: replaceClaims((claims) =>
      Array.isArray(claims["resource"]) ? { ...claims, resource: `${ISSUER}/api/user` } : undefined
    ),
    killedBy: names("resource-in-a-list"),
  },
  {
    name: "mcp/enterprise-any-client",
    fault: "Does not compare client_id with the client",
    wrap: acceptError(/client_id must identify/),
    killedBy: names("client-of-another", "client-missing", "client-in-another-case", "client-in-a-list"),
  },
  {
    name: "mcp/enterprise-any-issuer",
    fault: "Accepts ID-JAGs of every issuer",
    wrap: acceptError(/iss is not/),
    killedBy: names("issuer-unknown", "issuer-with-slash"),
    mayFail: { "The change is in the issuer": names("altered") },
  },
  {
    name: "mcp/enterprise-any-subject",
    fault: "Accepts ID-JAGs for every user",
    wrap: acceptError(/subject is not/),
    killedBy: names("subject-missing", "subject-unknown", "subject-is-a-list"),
  },
  {
    name: "mcp/enterprise-any-time",
    fault: "Does not check exp and nbf",
    wrap: acceptError(/exp must be/),
    killedBy: names("expired", "exp-missing", "exp-as-text", "not-yet"),
  },
  {
    name: "mcp/enterprise-any-signature",
    fault: "Does not verify signatures",
    wrap: accept(({ description }) => /signature|not a JWT/.test(description)),
    killedBy: names("issuer-of-another-trusted", "unsigned"),
    mayFail: { "The change may be in the signature or the claims": names("altered") },
  },
  {
    name: "mcp/enterprise-altered",
    fault: "Accepts an assertion that was changed after it was signed",
    wrap: accept(({ form, error }) => error === "invalid_grant" && isIdJag(form.get("assertion"))),
    killedBy: names("altered"),
    mayFail: { "They are refused with this error": names("") },
  },
  {
    name: "mcp/enterprise-replayed",
    fault: "Accepts an ID-JAG twice",
    wrap: acceptError(/jti was used/),
    killedBy: names("replayed", "race"),
  },
  {
    name: "mcp/enterprise-no-authentication",
    fault: "Takes a good ID-JAG as authentication of the client",
    wrap: accept(({ error, form }) => error === "invalid_client" && !form.has("client_assertion")),
    killedBy: names("wrong-secret", "no-authentication"),
  },
  {
    name: "mcp/enterprise-as-client-assertion",
    fault: "Accepts an ID-JAG as client_assertion",
    wrap: accept(({ form }) => form.has("client_assertion")),
    killedBy: names("as-client-authentication"),
  },
  {
    name: "mcp/enterprise-as-access-token",
    fault: "Accepts an ID-JAG as access token",
    wrap: retryWithToken((request) =>
      isIdJag((request.headers.get("authorization") ?? "").slice("Bearer ".length))
    ),
    killedBy: names("is-no-access-token"),
  },
  {
    name: "mcp/enterprise-any-resource",
    fault: "Ignores resource of the ID-JAG",
    wrap: replaceClaims((claims) => ({ ...claims, resource: ISSUER + MCP })),
    killedBy: names("resource-of-another", "resource-beyond"),
    mayFail: { "The changed assertion is signed": names("") },
  },
  {
    name: "mcp/enterprise-token-unusable",
    fault: "Issues tokens that the MCP server refuses",
    wrap: changeTokenResponses((json) => {
      if ("access_token" in json) json["access_token"] = `${json["access_token"]}x`;
    }),
    killedBy: names("token-is-usable", "resource-in-a-list"),
  },
  {
    name: "mcp/enterprise-refresh-token",
    fault: "Issues a refresh token for an ID-JAG",
    wrap: changeTokenResponses((json) => {
      if ("access_token" in json) json["refresh_token"] = "a refresh token";
    }),
    killedBy: names("no-refresh-token"),
  },
  {
    name: "mcp/enterprise-cached",
    fault: "Lets caches store the access token",
    wrap: (next) => async (request) =>
      isGrant(await readForm(request.clone() as Request))
        ? await changeResponses(TOKEN, (answer) => withHeaders(answer, { "cache-control": "max-age=60" }))(
          next,
        )(
          request,
        )
        : await next(request),
    killedBy: names("response-not-cached"),
    mayFail: { "They check the header too": ["oauth/"] },
  },
  {
    name: "mcp/enterprise-scope-not-told",
    fault: "Leaves scope and authorization_details out of the response",
    wrap: changeTokenResponses((json) => {
      delete json["scope"];
      delete json["authorization_details"];
    }),
    killedBy: names("scope-is-told", "details-granted"),
    mayFail: { "It reads scope": names("scope-limited") },
  },
  {
    name: "mcp/enterprise-any-scope",
    fault: "Reports every requested scope as granted",
    wrap: onPath(TOKEN, (next) => async (request) => {
      const form = await readForm(request);
      const scope = isGrant(form) ? form.get("scope") : undefined;
      if (!scope) return await next(request);
      form!.delete("scope");
      return Response.json({ ...await (await next(withForm(request, form!))).json(), scope });
    }),
    killedBy: names("scope-limited"),
  },
  {
    name: "mcp/enterprise-any-details",
    fault: "Grants authorization_details that the ID-JAG does not have",
    wrap: acceptError(/exceeds the granted authorization_details/),
    killedBy: names("details-limited"),
  },
  {
    name: "mcp/enterprise-details-ignored",
    fault: "Ignores authorization_details of the ID-JAG",
    wrap: replaceClaims(({ authorization_details, ...claims }) => authorization_details ? claims : undefined),
    killedBy: names("details-granted", "details-limited"),
  },
  {
    name: "mcp/enterprise-unbound",
    fault: "Ignores cnf of the ID-JAG",
    wrap: replaceClaims(({ cnf, ...claims }) => cnf ? claims : undefined),
    killedBy: names("bound-without-proof", "bound-to-another-key"),
  },
  {
    name: "mcp/enterprise-bearer-token-type",
    fault: "Issues an unbound token for a bound ID-JAG",
    wrap: changeTokenResponses((json) => {
      if ("token_type" in json) json["token_type"] = "Bearer";
    }),
    killedBy: names("bound-with-proof"),
  },
  {
    name: "mcp/enterprise-profile-unlisted",
    fault: "Leaves the profile out of the metadata",
    wrap: changeJson(METADATA, (json) => delete json["authorization_grant_profiles_supported"]),
    killedBy: names("profile-in-metadata"),
  },
  {
    name: "mcp/enterprise-issuers-disclosed",
    fault: "Lists the trusted identity providers in the metadata",
    wrap: changeJson(METADATA, (json) => {
      json["authorization_grant_issuers"] = [PROVIDER.issuer];
    }),
    killedBy: names("issuers-not-in-metadata"),
  },
];
