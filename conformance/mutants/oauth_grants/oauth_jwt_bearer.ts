/**
 * Faults in the JWT bearer grant (RFC 7523) and its identity assertions.
 *
 * @module
 */
import { fromBase64url, toText } from "../../runner/exchange/bytes.ts";
import { issueRefusedTokens, type Refused } from "../accept_refused.ts";
import {
  changeForms,
  changeJson,
  METADATA,
  onPath,
  readForm,
  TOKEN,
  withForm,
  withRequestHeaders,
} from "../http_faults.ts";
import type { Mutant, Wrap } from "../mutant.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `oauth/jwt_bearer/${id}`);
const GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const ISSUER = "https://trivet.example";

type Members = Record<string, unknown>;

/** Issues tokens for refused assertions that match. */
const acceptGrants = (isAccepted: (refused: Refused) => boolean): Wrap =>
  issueRefusedTokens((refused) => refused.form.get("grant_type") === GRANT && isAccepted(refused));

const acceptClaims = (isAccepted: (claims: Members, header: Members) => boolean): Wrap =>
  acceptGrants(({ form }) => {
    const [header = "", claims = ""] = (form.get("assertion") ?? "").split(".");
    try {
      return isAccepted(JSON.parse(toText(fromBase64url(claims))), JSON.parse(toText(fromBase64url(header))));
    } catch {
      return false;
    }
  });

const acceptError = (description: RegExp): Wrap =>
  acceptGrants((refused) => description.test(refused.description));

export const JWT_BEARER: readonly Mutant[] = [
  {
    name: "oauth/bearer-grant-refused",
    fault: "Refuses every assertion",
    wrap: changeForms(TOKEN, (form) => form.get("grant_type") === GRANT && form.set("assertion", "x")),
    killedBy: names("good", "audience-list", "identity"),
    mayFail: { "They send an assertion": names("") },
  },
  {
    name: "oauth/bearer-grant-any-text",
    fault: "Accepts what is not a JWT",
    wrap: acceptGrants(({ form }) => /^no\.jwt|[ ]/.test(form.get("assertion") ?? "")),
    killedBy: names("no-jwt", "two-in-one"),
  },
  {
    name: "oauth/bearer-grant-assertion-optional",
    fault: "Issues tokens without an assertion",
    wrap: acceptGrants(({ form }) => !form.has("assertion")),
    killedBy: names("assertion-missing"),
  },
  {
    name: "oauth/bearer-grant-any-issuer",
    fault: "Accepts assertions of unknown issuers",
    wrap: acceptError(/iss is not/),
    killedBy: names("issuer-unknown", "issuer-missing", "issuer-in-other-case"),
    mayFail: { "Text has no issuer": names("no-jwt", "two-in-one", "altered") },
  },
  {
    name: "oauth/bearer-grant-issuer-in-any-case",
    fault: "Compares iss without case",
    wrap: acceptClaims(({ iss }) => String(iss) !== String(iss).toLowerCase()),
    killedBy: names("issuer-in-other-case"),
  },
  {
    name: "oauth/bearer-grant-any-subject",
    fault: "Accepts assertions about unknown users",
    wrap: acceptError(/subject is not/),
    killedBy: names("subject-missing", "subject-unknown"),
  },
  {
    name: "oauth/bearer-grant-any-audience",
    fault: "Does not check aud",
    wrap: acceptClaims(({ aud }) => aud !== ISSUER),
    killedBy: names(
      "audience-of-another",
      "audience-missing",
      "identity-for-another-server",
      "identity-for-two-servers",
    ),
  },
  {
    name: "oauth/bearer-grant-any-time",
    fault: "Does not check exp and nbf",
    wrap: acceptError(/exp must be/),
    killedBy: names("expired", "exp-missing", "not-yet"),
  },
  {
    name: "oauth/bearer-grant-replayed",
    fault: "Accepts an assertion twice",
    wrap: acceptError(/jti was used/),
    killedBy: names("twice"),
  },
  {
    name: "oauth/bearer-grant-any-signature",
    fault: "Does not verify signatures",
    wrap: acceptError(/signature/),
    killedBy: names("altered", "unsigned", "of-another-key", "brings-its-key"),
  },
  {
    name: "oauth/bearer-grant-any-client",
    fault: "Takes a good assertion as authentication of the client",
    wrap: acceptGrants(({ error }) => error === "invalid_client"),
    killedBy: names("wrong-secret"),
  },
  {
    name: "oauth/identity-any-client",
    fault: "Does not compare client_id of identity assertions with the client",
    wrap: acceptError(/client_id must identify/),
    killedBy: names("identity-of-another-client", "identity-without-client"),
  },
  {
    name: "oauth/identity-any-type",
    fault: "Does not check typ",
    wrap: acceptError(/typ must be/),
    killedBy: names("identity-typ-of-an-access-token", "identity-typ-of-a-logout-token"),
  },
  {
    name: "oauth/identity-any-scope",
    fault: "Reports every requested scope as granted",
    wrap: onPath(TOKEN, (next) => async (request) => {
      const form = await readForm(request);
      const scope = form?.get("grant_type") === GRANT ? form.get("scope") : undefined;
      if (!scope) return await next(request);
      form!.delete("scope");
      return Response.json({ ...await (await next(withForm(request, form!))).json(), scope });
    }),
    killedBy: names("identity-more-scope"),
  },
  {
    name: "oauth/identity-resource-left-out",
    fault: "Leaves resource out of token responses",
    wrap: changeJson(TOKEN, (json) => delete json["resource"]),
    killedBy: names("identity-resource-granted"),
  },
  {
    name: "oauth/identity-proofs-ignored",
    fault: "Ignores DPoP proofs beside assertions",
    wrap: onPath(TOKEN, (next) => async (request) => {
      const isGrant = (await readForm(request))?.get("grant_type") === GRANT;
      return await next(isGrant ? withRequestHeaders(request, { dpop: undefined }) : request);
    }),
    killedBy: names("identity-with-a-wrong-proof"),
    mayFail: { "They prove possession": ["mcp/", "oauth/"] },
  },
  {
    name: "oauth/identity-profiles-as-text",
    fault: "Writes authorization_grant_profiles_supported as text",
    wrap: changeJson(METADATA, (json) => json["authorization_grant_profiles_supported"] = "id-jag"),
    killedBy: names("identity-profiles-listed"),
    mayFail: { "They read the list": ["mcp/", "oauth/"] },
  },
];
