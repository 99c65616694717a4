/**
 * Faults in authorization server metadata and keys.
 *
 * Long because each member of the document has its fault.
 *
 * @module
 */
import {
  AUTHORIZE,
  changeJson,
  changeResponses,
  KEYS,
  METADATA,
  onPath,
  withHeaders,
  withUrl,
} from "../http_faults.ts";
import type { Mutant, Wrap } from "../mutant.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `oauth/metadata/${id}`);

/** Replaces members; `undefined` removes one. */
const changeMetadata = (change: (members: Record<string, string[]>) => Record<string, unknown>): Wrap =>
  changeJson(METADATA, (members) => void Object.assign(members, change(members as Record<string, string[]>)));

const setMembers = (members: Record<string, unknown>): Wrap => changeMetadata(() => members);

const removeFromList = (list: string, ...left: string[]): Wrap =>
  changeMetadata((members) => ({ [list]: members[list]!.filter((each) => !left.includes(each)) }));

const addToList = (list: string, ...more: string[]): Wrap =>
  changeMetadata((members) => ({ [list]: [...members[list]!, ...more] }));

const UNSIGNED = `${btoa('{"alg":"none"}').replace(/=/g, "")}.${btoa('{"iss":"x"}').replace(/=/g, "")}.`;

export const SERVER_METADATA: readonly Mutant[] = [
  {
    name: "oauth/metadata-missing",
    fault: "Serves no metadata",
    wrap: onPath(METADATA, () => () => Promise.resolve(new Response(null, { status: 404 }))),
    killedBy: names("found", "published"),
    mayFail: { "They read the metadata": ["oauth/"] },
  },
  {
    name: "oauth/metadata-as-text",
    fault: "Serves metadata as text/plain",
    wrap: changeResponses(METADATA, (answer) => withHeaders(answer, { "content-type": "text/plain" })),
    killedBy: names("found"),
  },
  {
    name: "oauth/metadata-issuer-http",
    fault: "Has an issuer with the http scheme",
    wrap: changeMetadata(({ issuer }) => ({ issuer: String(issuer).replace("https", "http") })),
    killedBy: names("issuer", "issuer-is-the-address"),
    mayFail: {
      "The changed metadata differs from what was read at the start": names("issuer-not-from-query"),
    },
  },
  {
    name: "oauth/metadata-issuer-with-question-mark",
    fault: "Has an issuer that ends with a question mark",
    wrap: changeMetadata(({ issuer }) => ({ issuer: `${issuer}?` })),
    killedBy: names("issuer-without-marks", "issuer-is-the-address"),
    mayFail: { "An empty query counts as a query": names("issuer") },
  },
  {
    name: "oauth/metadata-issuer-from-query",
    fault: "Derives issuer from the query",
    wrap: changeJson(METADATA, (members, _, request) => {
      const requested = new URL(request.url).searchParams.get("issuer");
      if (requested !== null) members["issuer"] = requested;
    }),
    killedBy: names("issuer-not-from-query"),
  },
  {
    name: "oauth/metadata-at-any-path",
    fault: "Serves metadata at every path below the well-known path",
    wrap: (next) => async (request) => {
      const url = new URL(request.url);
      if (!url.pathname.startsWith(`${METADATA}/`)) return await next(request);
      url.pathname = METADATA;
      return await next(withUrl(request, url));
    },
    killedBy: names("issuer-path-of-nobody"),
  },
  {
    name: "oauth/metadata-without-endpoints",
    fault: "Leaves its endpoints out",
    wrap: setMembers({
      authorization_endpoint: undefined,
      token_endpoint: undefined,
      device_authorization_endpoint: undefined,
      pushed_authorization_request_endpoint: undefined,
    }),
    killedBy: [
      ...names("authorization-endpoint", "token-endpoint"),
      "oauth/device/metadata",
      "oauth/par/metadata",
    ],
    mayFail: {
      "A missing endpoint fails the check for a fragment": ["oauth/token_endpoint/address-without-fragment"],
      "They compare the token endpoint before and after": names("issuer-not-from-"),
    },
  },
  {
    name: "oauth/metadata-endpoints-http",
    fault: "Lists endpoints with the http scheme",
    wrap: changeMetadata((members) =>
      Object.fromEntries(
        Object.entries(members).filter(([name]) => /_endpoint$|^jwks_uri$/.test(name))
          .map(([name, value]) => [name, String(value).replace("https", "http")]),
      )
    ),
    killedBy: [
      ...names("names-of-the-origin", "authorization-endpoint", "token-endpoint", "keys-address"),
      ...names("revocation", "introspection"),
      "oauth/revocation/address",
      "oauth/introspection/address",
    ],
    mayFail: {
      "The changed metadata differs from what was read at the start": names("issuer-not-from-query"),
    },
  },
  {
    name: "oauth/metadata-endpoints-with-fragment",
    fault: "Lists endpoints with a fragment",
    wrap: changeMetadata((members) => ({
      authorization_endpoint: `${members["authorization_endpoint"]}#authorize`,
      token_endpoint: `${members["token_endpoint"]}#token`,
      revocation_endpoint: `${members["revocation_endpoint"]}#revoke`,
    })),
    killedBy: [
      "oauth/token_endpoint/address-without-fragment",
      "oauth/revocation/address",
      ...names("authorization-endpoint", "token-endpoint"),
    ],
    mayFail: {
      "The changed metadata differs from what was read at the start": names("issuer-not-from-query"),
    },
  },
  {
    name: "oauth/metadata-scopes-joined",
    fault: "Lists its scopes as one string",
    wrap: changeMetadata(({ scopes_supported }) => ({ scopes_supported: [scopes_supported!.join(" ")] })),
    killedBy: names("scopes"),
  },
  {
    name: "oauth/metadata-lists-as-text",
    fault: "Returns lists as text, joined by spaces",
    wrap: changeMetadata((members) =>
      Object.fromEntries(
        Object.entries(members).filter(([, value]) => Array.isArray(value))
          .map(([name, list]) => [name, list.join(" ")]),
      )
    ),
    killedBy: [
      ...names(
        "response-type-code",
        "grant-type-code",
        "grant-type-refresh",
        "grant-type-client-credentials",
        "client-authentication-basic",
        "client-authentication-post",
        "challenge-methods",
      ),
      "oauth/device/metadata",
      "oauth/jarm/metadata",
    ],
    mayFail: { "They read a list of the metadata": ["oauth/"] },
  },
  {
    name: "oauth/metadata-response-types-twice",
    fault: "Lists a response type twice",
    wrap: addToList("response_types_supported", "code"),
    killedBy: names("response-types"),
  },
  {
    name: "oauth/metadata-response-types-wrong",
    fault: "Lists response types that it does not support, and leaves its own out",
    wrap: setMembers({ response_types_supported: ["token", "id_token token"] }),
    killedBy: names("response-type-code", "no-implicit"),
  },
  {
    name: "oauth/metadata-response-mode-as-string",
    fault: "Returns response_modes_supported as a string",
    wrap: setMembers({ response_modes_supported: "query" }),
    killedBy: names("response-modes"),
    mayFail: { "It reads response_modes_supported": ["oauth/jarm/metadata"] },
  },
  {
    name: "oauth/response-type-unknown-is-code",
    fault: "Returns a code for unknown response types",
    wrap: returnCode(({ searchParams }) => searchParams.get("response_type") !== "code", "?"),
    killedBy: [...names("response-type-unlisted"), "oauth/authorize/response-type-unknown"],
    mayFail: {
      "They get an error by an unknown response type": [
        "oauth/form_post/error",
        "oauth/form_post/state-is-no-markup",
        "oauth/jarm/error-fragment",
        "oauth/jarm/error-query",
        "oauth/jarm/registered-algorithm",
        "oauth/request_object/redirect-uri-beside-it",
      ],
      "It sends another response type than code": ["oauth/oauth_2_1/implicit"],
      "They send values that resemble the right ones": ["oauth/encoding/state-"],
      "They send no response type or an unknown one": [
        "oauth/authorize/",
        "oauth/issuer/unknown-response-type",
        "oauth/issuer/no-response-type",
        "oauth/redirect_uri/query-is-kept",
        "oauth/redirect_uri/errors-stay-here",
        "oauth/par/redirect-uri-beside-it",
      ],
    },
  },
  {
    name: "oauth/response-mode-unknown-is-fragment",
    fault: "Returns a code in the fragment for unknown response modes",
    wrap: returnCode(({ searchParams }) => searchParams.get("response_mode") === "no_such_mode", "#"),
    killedBy: names("response-mode-unlisted"),
  },
  {
    name: "oauth/metadata-grants-omitted",
    fault: "Leaves grant_types_supported out",
    wrap: setMembers({ grant_types_supported: undefined }),
    killedBy: [
      ...names("grant-types-told", "grant-type-refresh", "grant-type-client-credentials"),
      "oauth/device/metadata",
    ],
  },
  {
    name: "oauth/metadata-code-grant-omitted",
    fault: "Leaves authorization_code out of grant_types_supported",
    wrap: removeFromList("grant_types_supported", "authorization_code"),
    killedBy: names("grant-type-code"),
  },
  {
    name: "oauth/metadata-secret-methods-omitted",
    fault: "Leaves the methods of client secrets out",
    wrap: removeFromList(
      "token_endpoint_auth_methods_supported",
      "client_secret_basic",
      "client_secret_post",
    ),
    killedBy: names("client-authentication-basic", "client-authentication-post"),
  },
  {
    name: "oauth/metadata-private-key-jwt-omitted",
    fault: "Leaves private_key_jwt and mutual TLS out",
    wrap: removeFromList(
      "token_endpoint_auth_methods_supported",
      "private_key_jwt",
      "tls_client_auth",
      "self_signed_tls_client_auth",
    ),
    killedBy: names("asymmetric-authentication"),
  },
  {
    name: "oauth/metadata-algorithms-omitted",
    fault: "Leaves the signing algorithms of assertions out",
    wrap: setMembers({
      token_endpoint_auth_signing_alg_values_supported: undefined,
      revocation_endpoint_auth_signing_alg_values_supported: undefined,
      introspection_endpoint_auth_signing_alg_values_supported: undefined,
    }),
    killedBy: names(
      "assertion-algorithms",
      "assertion-rs256",
      "revocation-algorithms",
      "introspection-algorithms",
    ),
  },
  {
    name: "oauth/metadata-algorithm-none",
    fault: "Lists the algorithm none",
    wrap: addToList("token_endpoint_auth_signing_alg_values_supported", "none"),
    killedBy: names("no-algorithm-none", "assertion-algorithms"),
  },
  {
    name: "oauth/metadata-without-rs256",
    fault: "Leaves RS256 out",
    wrap: removeFromList("token_endpoint_auth_signing_alg_values_supported", "RS256"),
    killedBy: names("assertion-rs256"),
  },
  {
    name: "oauth/metadata-documentation-not-a-url",
    fault: "Has a service_documentation that is not a URL",
    wrap: setMembers({ service_documentation: "see the wiki" }),
    killedBy: names("addresses-for-people"),
  },
  {
    name: "oauth/metadata-plain",
    fault: "Lists plain as its only code challenge method",
    wrap: setMembers({ code_challenge_methods_supported: ["plain"] }),
    killedBy: [...names("challenge-methods"), "oauth/pkce/plain-not-offered"],
  },
  {
    name: "oauth/metadata-unsigned",
    fault: "Signs signed_metadata with the algorithm none",
    wrap: setMembers({ signed_metadata: UNSIGNED }),
    killedBy: names("signed"),
  },
  {
    name: "oauth/metadata-empty-lists",
    fault: "Returns an empty list in place of leaving it out",
    wrap: setMembers({ ui_locales_supported: [] }),
    killedBy: names("nothing-empty"),
    mayFail: { "It requires at least one language": names("addresses-for-people") },
  },
  {
    name: "oauth/metadata-issuer-parameter-omitted",
    fault: "Leaves authorization_response_iss_parameter_supported out",
    wrap: setMembers({ authorization_response_iss_parameter_supported: undefined }),
    killedBy: names("issuer-parameter"),
  },
  {
    name: "oauth/metadata-dpop-omitted",
    fault: "Leaves the members about bound tokens out",
    wrap: setMembers({
      dpop_signing_alg_values_supported: undefined,
      tls_client_certificate_bound_access_tokens: undefined,
    }),
    killedBy: ["oauth/best_practice/sender-constraint-listed"],
  },
  {
    name: "oauth/metadata-dpop-symmetric",
    fault: "Lists a symmetric algorithm for DPoP proofs",
    wrap: addToList("dpop_signing_alg_values_supported", "HS256"),
    killedBy: ["oauth/dpop/metadata"],
  },
  {
    name: "oauth/metadata-par-as-string",
    fault: "Returns require_pushed_authorization_requests as a string",
    wrap: setMembers({ require_pushed_authorization_requests: "false" }),
    killedBy: ["oauth/par/metadata"],
  },
  {
    name: "oauth/keys-private",
    fault: "Publishes the private key of a former key",
    wrap: addKeys((key) => [{ ...key, kid: "former", d: "OEFNrngjy6eTFCIQR_wq6SQQ9e7NXLTXLSWePhsQ1AY" }]),
    killedBy: names("keys-public"),
  },
  {
    name: "oauth/keys-without-use",
    fault: "Publishes an encryption key beside one without use",
    wrap: addKeys(({ use: _, ...key }) => [{ ...key, kid: "second" }, { ...key, kid: "third", use: "enc" }]),
    killedBy: names("keys-say-their-use"),
  },
  {
    name: "oauth/cors-with-cookies",
    fault: "Lets scripts of every origin read every response, with credentials",
    wrap: changeResponses(undefined, (answer) =>
      withHeaders(answer, {
        "access-control-allow-origin": "*",
        "access-control-allow-credentials": "true",
      })),
    killedBy: [
      ...names("cors"),
      "oauth/registration/cors",
      "oauth/revocation/browser-may-ask",
      "oauth/best_practice/no-cors-where-users-are",
      "oauth/best_practice/no-cors-for-an-error",
    ],
  },
];

function addKeys(more: (first: Record<string, string>) => Record<string, string>[]): Wrap {
  return changeJson(KEYS, (set) => {
    const keys = set["keys"] as Record<string, string>[];
    set["keys"] = [...keys, ...more(keys[0]!)];
  });
}

/** Returns an invalid code to the client without asking the user. */
function returnCode(matches: (url: URL) => boolean, mark: "?" | "#"): Wrap {
  return onPath(AUTHORIZE, (next) => async (request) => {
    const url = new URL(request.url);
    const to = url.searchParams.get("redirect_uri");
    if (request.method !== "GET" || to === null || !matches(url)) return await next(request);
    return new Response(null, { status: 302, headers: { location: `${to}${mark}code=trivet_ac_x` } });
  });
}
