/**
 * Faults of what a server says of itself: metadata and keys.
 *
 * Long because the document has many members, and each has its fault.
 *
 * @module
 */
import { at, AUTHORIZE, faultyAnswers, faultyJson, KEYS, METADATA, withFields, withUrl } from "../message.ts";
import type { Mutant, Wrap } from "../mutant.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `oauth/metadata/${id}`);

/** Says some members otherwise; `undefined` leaves them out. */
const told = (change: (said: Record<string, string[]>) => Record<string, unknown>): Wrap =>
  faultyJson(METADATA, (said) => void Object.assign(said, change(said as Record<string, string[]>)));

const always = (members: Record<string, unknown>): Wrap => told(() => members);

const without = (list: string, ...left: string[]): Wrap =>
  told((said) => ({ [list]: said[list]!.filter((each) => !left.includes(each)) }));

const besides = (list: string, ...more: string[]): Wrap =>
  told((said) => ({ [list]: [...said[list]!, ...more] }));

const UNSIGNED = `${btoa('{"alg":"none"}').replace(/=/g, "")}.${btoa('{"iss":"x"}').replace(/=/g, "")}.`;

export const TOLD: readonly Mutant[] = [
  {
    name: "oauth/metadata-not-there",
    fault: "Does not describe itself",
    wrap: at(METADATA, () => () => Promise.resolve(new Response(null, { status: 404 }))),
    breaks: names("found", "published"),
    mayBreak: { "Nothing can be read there": ["oauth/"] },
  },
  {
    name: "oauth/metadata-as-text",
    fault: "Describes itself as text",
    wrap: faultyAnswers(METADATA, (answer) => withFields(answer, { "content-type": "text/plain" })),
    breaks: names("found"),
  },
  {
    name: "oauth/metadata-issuer-http",
    fault: "Has a name that begins with http",
    wrap: told(({ issuer }) => ({ issuer: String(issuer).replace("https", "http") })),
    breaks: names("issuer", "issuer-is-the-address"),
    mayBreak: { "What is said otherwise is not what was read at the start": names("issuer-not-from-query") },
  },
  {
    name: "oauth/metadata-issuer-with-mark",
    fault: "Has a name that ends in a question mark",
    wrap: told(({ issuer }) => ({ issuer: `${issuer}?` })),
    breaks: names("issuer-without-marks", "issuer-is-the-address"),
    mayBreak: { "An empty query is a query to some": names("issuer") },
  },
  {
    name: "oauth/metadata-of-query",
    fault: "Takes its name from the query",
    wrap: faultyJson(METADATA, (said, _, request) => {
      const asked = new URL(request.url).searchParams.get("issuer");
      if (asked !== null) said["issuer"] = asked;
    }),
    breaks: names("issuer-not-from-query"),
  },
  {
    name: "oauth/metadata-below",
    fault: "Describes itself at every path below the right one",
    wrap: (next) => async (request) => {
      const url = new URL(request.url);
      if (!url.pathname.startsWith(`${METADATA}/`)) return await next(request);
      url.pathname = METADATA;
      return await next(withUrl(request, url));
    },
    breaks: names("issuer-path-of-nobody"),
  },
  {
    name: "oauth/metadata-without-endpoints",
    fault: "Does not say where its endpoints are",
    wrap: always({
      authorization_endpoint: undefined,
      token_endpoint: undefined,
      device_authorization_endpoint: undefined,
      pushed_authorization_request_endpoint: undefined,
    }),
    breaks: [
      ...names("authorization-endpoint", "token-endpoint"),
      "oauth/device/metadata",
      "oauth/par/metadata",
    ],
    mayBreak: {
      "No address is none without fragment": ["oauth/token_endpoint/address-without-fragment"],
      "They compare the token endpoint before and after": names("issuer-not-from-"),
    },
  },
  {
    name: "oauth/metadata-endpoints-http",
    fault: "Names endpoints by http",
    wrap: told((said) =>
      Object.fromEntries(
        Object.entries(said).filter(([name]) => /_endpoint$|^jwks_uri$/.test(name))
          .map(([name, value]) => [name, String(value).replace("https", "http")]),
      )
    ),
    breaks: [
      ...names("names-of-the-origin", "authorization-endpoint", "token-endpoint", "keys-address"),
      ...names("revocation", "introspection"),
      "oauth/revocation/address",
      "oauth/introspection/address",
    ],
    mayBreak: { "What is said otherwise is not what was read at the start": names("issuer-not-from-query") },
  },
  {
    name: "oauth/metadata-endpoints-with-fragment",
    fault: "Names endpoints with a fragment",
    wrap: told((said) => ({
      authorization_endpoint: `${said["authorization_endpoint"]}#authorize`,
      token_endpoint: `${said["token_endpoint"]}#token`,
      revocation_endpoint: `${said["revocation_endpoint"]}#revoke`,
    })),
    breaks: [
      "oauth/token_endpoint/address-without-fragment",
      "oauth/revocation/address",
      ...names("authorization-endpoint", "token-endpoint"),
    ],
    mayBreak: { "What is said otherwise is not what was read at the start": names("issuer-not-from-query") },
  },
  {
    name: "oauth/metadata-scopes-in-one",
    fault: "Lists its scopes as one text",
    wrap: told(({ scopes_supported }) => ({ scopes_supported: [scopes_supported!.join(" ")] })),
    breaks: names("scopes"),
  },
  {
    name: "oauth/metadata-response-types-twice",
    fault: "Lists a response type twice",
    wrap: besides("response_types_supported", "code"),
    breaks: names("response-types"),
  },
  {
    name: "oauth/metadata-response-types-of-others",
    fault: "Lists response types that are not its own, and leaves out its own",
    wrap: always({ response_types_supported: ["token", "id_token token"] }),
    breaks: names("response-type-code", "no-implicit"),
  },
  {
    name: "oauth/metadata-response-mode-as-text",
    fault: "Names its response mode in place of a list",
    wrap: always({ response_modes_supported: "query" }),
    breaks: names("response-modes"),
  },
  {
    name: "oauth/response-type-unknown-is-code",
    fault: "Gives a code at once for response types that it does not know",
    wrap: codeFor(({ searchParams }) => searchParams.get("response_type") !== "code", "?"),
    breaks: [...names("response-type-unlisted"), "oauth/authorize/response-type-unknown"],
    mayBreak: {
      "They ask without a response type, or for one that there is not": [
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
    fault: "Gives a code in the fragment for response modes that it does not know",
    wrap: codeFor(({ searchParams }) => searchParams.get("response_mode") === "no_such_mode", "#"),
    breaks: names("response-mode-unlisted"),
  },
  {
    name: "oauth/metadata-grants-untold",
    fault: "Does not list its grants",
    wrap: always({ grant_types_supported: undefined }),
    breaks: [
      ...names("grant-types-told", "grant-type-refresh", "grant-type-client-credentials"),
      "oauth/device/metadata",
    ],
  },
  {
    name: "oauth/metadata-grant-of-codes-untold",
    fault: "Lists every grant but that of codes",
    wrap: without("grant_types_supported", "authorization_code"),
    breaks: names("grant-type-code"),
  },
  {
    name: "oauth/metadata-secrets-untold",
    fault: "Lists no way to prove oneself by a secret",
    wrap: without("token_endpoint_auth_methods_supported", "client_secret_basic", "client_secret_post"),
    breaks: names("client-authentication-basic", "client-authentication-post"),
  },
  {
    name: "oauth/metadata-keys-untold",
    fault: "Lists no way to prove oneself by a key",
    wrap: without("token_endpoint_auth_methods_supported", "private_key_jwt"),
    breaks: names("asymmetric-authentication"),
  },
  {
    name: "oauth/metadata-algorithms-untold",
    fault: "Does not list the algorithms of assertions",
    wrap: always({ token_endpoint_auth_signing_alg_values_supported: undefined }),
    breaks: names("assertion-algorithms", "assertion-rs256"),
  },
  {
    name: "oauth/metadata-algorithm-none",
    fault: "Lists none among its algorithms",
    wrap: besides("token_endpoint_auth_signing_alg_values_supported", "none"),
    breaks: names("no-algorithm-none", "assertion-algorithms"),
  },
  {
    name: "oauth/metadata-without-rs256",
    fault: "Does not list RS256",
    wrap: without("token_endpoint_auth_signing_alg_values_supported", "RS256"),
    breaks: names("assertion-rs256"),
  },
  {
    name: "oauth/metadata-documentation-as-prose",
    fault: "Says in prose where its documentation is",
    wrap: always({ service_documentation: "see the wiki" }),
    breaks: names("addresses-for-people"),
  },
  {
    name: "oauth/metadata-plain",
    fault: "Lists plain as its only challenge method",
    wrap: always({ code_challenge_methods_supported: ["plain"] }),
    breaks: [...names("challenge-methods"), "oauth/pkce/plain-not-offered"],
  },
  {
    name: "oauth/metadata-unsigned",
    fault: "Signs its metadata with none",
    wrap: always({ signed_metadata: UNSIGNED }),
    breaks: names("signed"),
  },
  {
    name: "oauth/metadata-empty-lists",
    fault: "Says empty lists in place of nothing",
    wrap: always({ ui_locales_supported: [] }),
    breaks: names("nothing-empty"),
    mayBreak: { "A list of languages has one at least": names("addresses-for-people") },
  },
  {
    name: "oauth/metadata-issuer-parameter-untold",
    fault: "Does not say that it names itself in answers",
    wrap: always({ authorization_response_iss_parameter_supported: undefined }),
    breaks: names("issuer-parameter"),
  },
  {
    name: "oauth/metadata-dpop-untold",
    fault: "Does not say that it binds tokens to keys",
    wrap: always({ dpop_signing_alg_values_supported: undefined }),
    breaks: ["oauth/best_practice/sender-constraint-listed", "oauth/dpop/metadata"],
  },
  {
    name: "oauth/metadata-dpop-by-secrets",
    fault: "Lists an algorithm of shared secrets for proofs",
    wrap: besides("dpop_signing_alg_values_supported", "HS256"),
    breaks: ["oauth/dpop/metadata"],
  },
  {
    name: "oauth/metadata-push-as-text",
    fault: "Says as text whether requests must be pushed",
    wrap: always({ require_pushed_authorization_requests: "false" }),
    breaks: ["oauth/par/metadata"],
  },
  {
    name: "oauth/keys-whole",
    fault: "Shows the private half of a former key",
    wrap: moreKeys((key) => [{ ...key, kid: "former", d: "OEFNrngjy6eTFCIQR_wq6SQQ9e7NXLTXLSWePhsQ1AY" }]),
    breaks: names("keys-public"),
  },
  {
    name: "oauth/keys-without-use",
    fault: "Has a key that encrypts beside one that does not say what it is for",
    wrap: moreKeys(({ use: _, ...key }) => [{ ...key, kid: "second" }, { ...key, kid: "third", use: "enc" }]),
    breaks: names("keys-say-their-use"),
  },
  {
    name: "oauth/cors-with-cookies",
    fault: "Lets scripts of every site read every answer, with cookies",
    wrap: faultyAnswers(undefined, (answer) =>
      withFields(answer, {
        "access-control-allow-origin": "*",
        "access-control-allow-credentials": "true",
      })),
    breaks: [
      ...names("cors"),
      "oauth/registration/cors",
      "oauth/revocation/browser-may-ask",
      "oauth/best_practice/no-cors-where-users-are",
      "oauth/best_practice/no-cors-for-an-error",
    ],
  },
];

function moreKeys(more: (first: Record<string, string>) => Record<string, string>[]): Wrap {
  return faultyJson(KEYS, (set) => {
    const keys = set["keys"] as Record<string, string>[];
    set["keys"] = [...keys, ...more(keys[0]!)];
  });
}

/** Sends a code of no worth to the client at once. */
function codeFor(isMeant: (url: URL) => boolean, mark: "?" | "#"): Wrap {
  return at(AUTHORIZE, (next) => async (request) => {
    const url = new URL(request.url);
    const to = url.searchParams.get("redirect_uri");
    if (request.method !== "GET" || to === null || !isMeant(url)) return await next(request);
    return new Response(null, { status: 302, headers: { location: `${to}${mark}code=trivet_ac_x` } });
  });
}
