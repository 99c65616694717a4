/**
 * Faults of the token endpoint: what it reads.
 *
 * @module
 */
import { alsoReads, alsoTakes, queryToo, repeated } from "../endpoint.ts";
import { at, faultyForms, readForm, TOKEN } from "../message.ts";
import type { Mutant } from "../mutant.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `oauth/token_endpoint/${id}`);

export const TOKEN_ENDPOINT: readonly Mutant[] = [
  {
    name: "oauth/token-repeated-first",
    fault: "Takes the first of repeated parameters",
    wrap: repeated(TOKEN, "first"),
    breaks: names("repeated-grant-type", "repeated-code", "repeated-client-id", "repeated-code-verifier"),
    mayBreak: {
      "They repeat a parameter": [
        "oauth/client_assertion/two",
        "oauth/token_endpoint/repeated-",
        "oauth/token_exchange/repeated-subject",
      ],
    },
  },
  {
    name: "oauth/token-repeated-last",
    fault: "Takes the last of repeated parameters",
    wrap: repeated(TOKEN, "last"),
    breaks: names(
      "repeated-redirect-uri",
      "repeated-client-secret",
      "repeated-refresh-token",
      "repeated-unlike",
    ),
    mayBreak: {
      "They repeat a parameter": [
        "oauth/client_assertion/two",
        "oauth/token_endpoint/repeated-",
        "oauth/token_exchange/repeated-subject",
      ],
    },
  },
  {
    name: "oauth/token-brackets",
    fault: "Takes names with brackets for lists",
    wrap: faultyForms(TOKEN, (form) => {
      for (const [name, value] of [...form]) {
        const [bare = ""] = name.split("[");
        if (bare !== name && !form.has(bare)) form.append(bare, value);
      }
    }),
    breaks: names("bracketed-names"),
  },
  {
    name: "oauth/token-by-get",
    fault: "Gives tokens to GET",
    wrap: alsoTakes(TOKEN, "GET"),
    breaks: names("get"),
  },
  {
    name: "oauth/token-by-put",
    fault: "Gives tokens to any method",
    wrap: alsoTakes(TOKEN, "PUT", "PATCH", "DELETE"),
    breaks: names("method-put", "method-patch"),
    mayBreak: { "It is another method": ["oauth/token_endpoint/method-delete"] },
  },
  {
    name: "oauth/token-query",
    fault: "Reads parameters from the address as well",
    wrap: queryToo(TOKEN),
    breaks: [...names("code-in-query"), "oauth/client_authentication/secret-in-query-id-in-body"],
    mayBreak: {
      "They send parameters in the address": [
        "oauth/client_authentication/secret-in-query",
        "oauth/token_endpoint/query",
      ],
    },
  },
  {
    name: "oauth/token-json",
    fault: "Reads JSON as well",
    wrap: alsoReads(TOKEN, /json/),
    breaks: names("json"),
    mayBreak: { "It sends JSON, and is refused in JSON": ["oauth/token_endpoint/error-is-json"] },
  },
  {
    name: "oauth/token-text",
    fault: "Reads forms that say they are plain text",
    wrap: alsoReads(TOKEN, /^text\/plain/),
    breaks: names("text-plain"),
  },
  {
    name: "oauth/token-media-type-begins",
    fault: "Compares the beginning of media types",
    wrap: alsoReads(TOKEN, /^application\/x-www-form/),
    breaks: names("media-type-alike"),
  },
  {
    name: "oauth/token-media-type-exact",
    fault: "Compares media types letter by letter, parameters and all",
    wrap: at(TOKEN, (next) => async (request) => {
      const type = request.headers.get("content-type") ?? "";
      const isOther = /^application\/x-www-form-urlencoded./i.test(type) || /[A-Z]/.test(type);
      if (!isOther) return await next(request);
      return Response.json({ error: "invalid_request" }, { status: 400 });
    }),
    breaks: names("media-type-with-charset", "media-type-in-capitals"),
  },
  {
    name: "oauth/token-unknown-refused",
    fault: "Refuses parameters that it does not know",
    wrap: at(TOKEN, (next) => async (request) => {
      const form = await readForm(request);
      const known =
        /^(grant_type|code|redirect_uri|client_id|client_secret|code_verifier|scope|refresh_token|resource)$/;
      const others = [...form?.keys() ?? []].some((name) => !known.test(name) && !name.includes("assertion"));
      return others ? Response.json({ error: "invalid_request" }, { status: 400 }) : await next(request);
    }),
    breaks: names("unknown-parameter"),
    mayBreak: {
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
    fault: "Reads grant types in any case",
    wrap: faultyForms(TOKEN, (form) => {
      const type = form.getAll("grant_type");
      if (type.length === 1) form.set("grant_type", type[0]!.toLowerCase());
    }),
    breaks: names("grant-type-in-other-case"),
  },
  {
    name: "oauth/token-grant-type-default",
    fault: "Takes a missing grant type for the code grant",
    wrap: faultyForms(TOKEN, (form) => {
      if (!form.get("grant_type")) form.set("grant_type", "authorization_code");
    }),
    breaks: names("grant-type-missing", "grant-type-empty"),
    mayBreak: { "They send no grant type": ["oauth/token_endpoint/error-status"] },
  },
  {
    name: "oauth/token-fault-on-bytes",
    fault: "Fails on percent signs that encode nothing",
    wrap: at(TOKEN, (next) => async (request) => {
      const text = request.method === "POST" ? await request.clone().text() : "";
      const isBroken = /%(?![0-9a-f]{2})/i.test(text);
      return isBroken ? new Response("Internal Server Error", { status: 500 }) : await next(request);
    }),
    breaks: names("broken-encoding"),
  },
];
