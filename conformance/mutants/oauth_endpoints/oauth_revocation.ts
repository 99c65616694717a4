/**
 * Faults of who may revoke or introspect what, and of how the two endpoints are asked.
 *
 * @module
 */
import { alsoReads, alsoTakes } from "../endpoint.ts";
import { at, INTROSPECT, pathOf, readForm, REVOKE, TOKEN, withForm, withRequestFields } from "../message.ts";
import type { Handler, Mutant, Wrap } from "../mutant.ts";

const revocation = (...ids: string[]): string[] => ids.map((id) => `oauth/revocation/${id}`);
const introspection = (...ids: string[]): string[] => ids.map((id) => `oauth/introspection/${id}`);

/** What came out of the token endpoint, and who had asked. */
interface Issued {
  readonly access: string;
  readonly refresh: string;
  readonly client: string | null;
  readonly authorization: string | undefined;
}

/** Remembers what is issued, and asks the fault before each request. */
const remembering = (
  fault: (request: Request, form: URLSearchParams, issued: readonly Issued[]) => Request | Response,
): Wrap =>
(next): Handler => {
  const issued: Issued[] = [];
  return async (request) => {
    const form = await readForm(request) ?? new URLSearchParams();
    const changed = fault(request, form, issued);
    if (changed instanceof Response) return changed;
    const answer = await next(changed);
    if (pathOf(request) === TOKEN && answer.status === 200) {
      const json = await answer.clone().json() as Record<string, unknown>;
      issued.push({
        access: String(json["access_token"]),
        refresh: String(json["refresh_token"]),
        client: form.get("client_id"),
        authorization: request.headers.get("authorization") ?? undefined,
      });
    }
    return answer;
  };
};

const isAlike = (one: string, two: string): boolean =>
  one.length === two.length && [...one].filter((letter, place) => letter !== two[place]).length === 1;

/** Answers introspection itself where the fault knows better. */
const introspected = (answer: (form: URLSearchParams) => Response | undefined): Wrap =>
  at(INTROSPECT, (next) => async (request) => {
    const form = await readForm(request);
    return form && answer(form) || await next(request);
  });

const inactive = (): Response => Response.json({ active: false });

export const REVOCATION: readonly Mutant[] = [
  {
    name: "oauth/revocation-of-anyone",
    fault: "Revokes tokens for whoever has them",
    wrap: remembering((request, form, issued) => {
      const token = form.get("token");
      const owner = issued.find(({ access, refresh }) => token === access || token === refresh);
      if (pathOf(request) !== REVOKE || !owner) return request;
      form.delete("client_secret");
      if (owner.client === null) form.delete("client_id");
      else form.set("client_id", owner.client);
      return withRequestFields(withForm(request, form), { authorization: owner.authorization });
    }),
    breaks: revocation("of-another-client", "access-token-of-another-client", "by-a-confidential-stranger"),
    mayBreak: { "They are about who asks": revocation("") },
  },
  {
    name: "oauth/revocation-of-alike",
    fault: "Finds tokens that differ in a letter from what was sent",
    wrap: remembering((request, form, issued) => {
      const sent = form.get("token") ?? "";
      const found = issued.flatMap(({ access, refresh }) => [access, refresh]).find((each) =>
        isAlike(each, sent)
      );
      if (pathOf(request) !== REVOKE || found === undefined) return request;
      form.set("token", found);
      return withForm(request, form);
    }),
    breaks: revocation("altered"),
  },
  {
    name: "oauth/revocation-by-get",
    fault: "Revokes by GET",
    wrap: alsoTakes(REVOKE, "GET"),
    breaks: revocation("get"),
  },
  {
    name: "oauth/revocation-leaves-half",
    fault: "Fails on refresh tokens whose access token was revoked",
    wrap: halfForgotten,
    breaks: revocation("access-token-leaves-refresh-token-known"),
  },
  {
    name: "oauth/introspection-believes-hints",
    fault: "Looks for a token only where its hint says",
    wrap: introspected((form) => {
      const isRefresh = form.get("token")?.startsWith("trivet_rt_");
      return isRefresh && form.get("token_type_hint") === "access_token" ? inactive() : undefined;
    }),
    breaks: introspection("refresh-token-called-access-token"),
  },
  {
    name: "oauth/introspection-of-nothing",
    fault: "Says of no token that it is inactive",
    wrap: introspected((form) => form.get("token") ? undefined : inactive()),
    breaks: introspection("token-missing", "token-empty"),
    mayBreak: { "They have no form, or name the token otherwise": introspection("") },
  },
  {
    name: "oauth/introspection-fault-on-get",
    fault: "Fails on GET",
    wrap: at(
      INTROSPECT,
      (next) => async (request) =>
        request.method === "GET" ? new Response(null, { status: 500 }) : await next(request),
    ),
    breaks: introspection("get"),
  },
  {
    name: "oauth/introspection-json",
    fault: "Reads JSON as well",
    wrap: alsoReads(INTROSPECT, /json/),
    breaks: introspection("json"),
  },
];

/** Knows access tokens that were revoked, and stumbles over what belonged to them. */
function halfForgotten(next: Handler): Handler {
  const revoked = new Set<string>();
  return remembering((request, form, issued) => {
    if (pathOf(request) === REVOKE) revoked.add(form.get("token") ?? "");
    const used = issued.find(({ refresh }) => refresh === form.get("refresh_token"));
    const isStumbling = pathOf(request) === TOKEN && used && revoked.has(used.access);
    return isStumbling ? new Response(null, { status: 500 }) : request;
  })(next);
}
