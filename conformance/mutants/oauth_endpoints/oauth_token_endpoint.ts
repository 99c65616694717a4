/**
 * Faults in how the token endpoint reads requests.
 *
 * @module
 */
import { acceptMediaType, acceptMethods, readQuery, readRepeated } from "../form_faults.ts";
import { changeForms, onPath, readForm, TOKEN } from "../http_faults.ts";
import type { Mutant } from "../mutant.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `oauth/token_endpoint/${id}`);

export const TOKEN_ENDPOINT: readonly Mutant[] = [
  {
    name: "oauth/token-repeated-first",
    fault: "Reads the first of repeated parameters",
    wrap: readRepeated(TOKEN, "first"),
    killedBy: names("repeated-grant-type", "repeated-code", "repeated-client-id", "repeated-code-verifier"),
    mayFail: {
      "They repeat a parameter": [
        "oauth/client_assertion/two",
        "oauth/token_endpoint/repeated-",
        "oauth/token_exchange/repeated-subject",
      ],
    },
  },
  {
    name: "oauth/token-repeated-last",
    fault: "Reads the last of repeated parameters",
    wrap: readRepeated(TOKEN, "last"),
    killedBy: names(
      "repeated-redirect-uri",
      "repeated-client-secret",
      "repeated-refresh-token",
      "repeated-unlike",
    ),
    mayFail: {
      "They repeat a parameter": [
        "oauth/client_assertion/two",
        "oauth/token_endpoint/repeated-",
        "oauth/token_exchange/repeated-subject",
      ],
    },
  },
  {
    name: "oauth/token-brackets",
    fault: "Reads parameter names with brackets as lists",
    wrap: changeForms(TOKEN, (form) => {
      for (const [name, value] of [...form]) {
        const [bare = ""] = name.split("[");
        if (bare !== name && !form.has(bare)) form.append(bare, value);
      }
    }),
    killedBy: names("bracketed-names"),
  },
  {
    name: "oauth/token-by-get",
    fault: "Issues tokens to GET",
    wrap: acceptMethods(TOKEN, "GET"),
    killedBy: names("get"),
  },
  {
    name: "oauth/token-by-put",
    fault: "Issues tokens to any method",
    wrap: acceptMethods(TOKEN, "PUT", "PATCH", "DELETE"),
    killedBy: names("method-put", "method-patch"),
    mayFail: { "It uses another method": ["oauth/token_endpoint/method-delete"] },
  },
  {
    name: "oauth/token-query",
    fault: "Reads parameters from the query as well",
    wrap: readQuery(TOKEN),
    killedBy: [...names("code-in-query"), "oauth/client_authentication/secret-in-query-id-in-body"],
    mayFail: {
      "They send parameters in the query": [
        "oauth/client_authentication/secret-in-query",
        "oauth/token_endpoint/query",
      ],
    },
  },
  {
    name: "oauth/token-json",
    fault: "Accepts JSON as well as forms",
    wrap: acceptMediaType(TOKEN, /json/),
    killedBy: names("json"),
    mayFail: { "It expects an error for JSON": ["oauth/token_endpoint/error-is-json"] },
  },
  {
    name: "oauth/token-text",
    fault: "Accepts forms labelled as text/plain",
    wrap: acceptMediaType(TOKEN, /^text\/plain/),
    killedBy: names("text-plain"),
  },
  {
    name: "oauth/token-media-type-prefix",
    fault: "Compares only the beginning of media types",
    wrap: acceptMediaType(TOKEN, /^application\/x-www-form/),
    killedBy: names("media-type-alike"),
  },
  {
    name: "oauth/token-media-type-exact",
    fault: "Compares media types case-sensitively and with parameters",
    wrap: onPath(TOKEN, (next) => async (request) => {
      const type = request.headers.get("content-type") ?? "";
      const isOther = /^application\/x-www-form-urlencoded./i.test(type) || /[A-Z]/.test(type);
      if (!isOther) return await next(request);
      return Response.json({ error: "invalid_request" }, { status: 400 });
    }),
    killedBy: names("media-type-with-charset", "media-type-in-capitals"),
  },
  {
    name: "oauth/token-unknown-refused",
    fault: "Refuses unknown parameters",
    wrap: onPath(TOKEN, (next) => async (request) => {
      const form = await readForm(request);
      const known =
        /^(grant_type|code|redirect_uri|client_id|client_secret|code_verifier|scope|refresh_token|resource)$/;
      const others = [...form?.keys() ?? []].some((name) => !known.test(name) && !name.includes("assertion"));
      return others ? Response.json({ error: "invalid_request" }, { status: 400 }) : await next(request);
    }),
    killedBy: names("unknown-parameter"),
    mayFail: {
      "They check what caches may keep": ["oauth/caching/"],
      "They send a parameter that is not of RFC 6749, 7636 or 8707": [
        "oauth/device/",
        "oauth/password/not-offered",
        "oauth/token_endpoint/prototype-names",
        "oauth/token_endpoint/unknown-parameter-empty",
        "oauth/token_exchange/",
        "oauth/authorization_details/a-part",
        "oauth/authorization_details/exchanged",
        "oauth/authorization_details/more-at-the-token-endpoint",
        "oauth/authorization_details/more-at-refresh",
      ],
    },
  },
  {
    name: "oauth/token-grant-type-any-case",
    fault: "Compares grant_type case-insensitively",
    wrap: changeForms(TOKEN, (form) => {
      const type = form.getAll("grant_type");
      if (type.length === 1) form.set("grant_type", type[0]!.toLowerCase());
    }),
    killedBy: names("grant-type-in-other-case"),
  },
  {
    name: "oauth/token-grant-type-default",
    fault: "Treats a missing grant_type as authorization_code",
    wrap: changeForms(TOKEN, (form) => {
      if (!form.get("grant_type")) form.set("grant_type", "authorization_code");
    }),
    killedBy: names("grant-type-missing", "grant-type-empty"),
    mayFail: { "They send no grant type": ["oauth/token_endpoint/error-status"] },
  },
  {
    name: "oauth/token-fails-on-percent",
    fault: "Fails on invalid percent-encoding",
    wrap: onPath(TOKEN, (next) => async (request) => {
      const text = request.method === "POST" ? await request.clone().text() : "";
      const isBroken = /%(?![0-9a-f]{2})/i.test(text);
      return isBroken ? new Response("Internal Server Error", { status: 500 }) : await next(request);
    }),
    killedBy: names("broken-encoding"),
  },
];
