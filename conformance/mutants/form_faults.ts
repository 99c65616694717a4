/**
 * Faults that any endpoint for forms may have: other methods and media types, parameters from the query or repeated,
 * client secrets that are not compared.
 *
 * @module
 */
import { changeForms, changeRequests, readForm, withForm, withRequestHeaders } from "./http_faults.ts";
import type { Wrap } from "./mutant.ts";
import { findClient, parseBasic, toBasic } from "./registered_clients.ts";

/** Reads bodies of another media type as forms. */
export function acceptMediaType(path: string, type: RegExp): Wrap {
  return changeRequests(path, async (request) => {
    const sent = request.headers.get("content-type") ?? "";
    if (request.method !== "POST" || !type.test(sent)) return request;
    const text = await request.clone().text();
    return withForm(request, new URLSearchParams(/json/.test(sent) ? JSON.parse(text) : text));
  });
}

/** Treats other methods as POST. */
export function acceptMethods(path: string, ...methods: string[]): Wrap {
  return changeRequests(path, async (request) => {
    if (!methods.includes(request.method)) return request;
    const form = new URLSearchParams(request.method === "GET" ? "" : await request.clone().text());
    for (const [name, value] of new URL(request.url).searchParams) form.append(name, value);
    return withForm(request, form);
  });
}

/** Reads parameters from the query as well. */
export function readQuery(path: string): Wrap {
  return changeForms(path, (form, request) => {
    for (const [name, value] of new URL(request.url).searchParams) {
      if (!form.has(name)) form.set(name, value);
    }
  });
}

/** Reads one of repeated parameters. */
export function readRepeated(path: string, which: "first" | "last"): Wrap {
  return changeForms(path, (form) => {
    for (const name of new Set(form.keys())) {
      const all = form.getAll(name);
      if (name !== "resource" && all.length > 1) form.set(name, which === "first" ? all[0]! : all.at(-1)!);
    }
  });
}

/** Replaces the sent client secret with the right one if `isAccepted` returns true. */
export function acceptSecrets(path: string, isAccepted: (sent: string, right: string) => boolean): Wrap {
  return changeRequests(path, async (request) => {
    const form = await readForm(request);
    const inField = parseBasic(request.headers.get("authorization"));
    const known = findClient(inField?.id ?? form?.get("client_id") ?? null);
    if (!form || known?.secret === undefined || form.getAll("client_secret").length > 1) return request;
    const sent = inField?.secret ?? form.get("client_secret") ?? "";
    if (!isAccepted(sent, known.secret)) return request;
    if (inField) return withRequestHeaders(request, { authorization: toBasic(known) });
    form.set("client_secret", known.secret);
    return withForm(request, form);
  });
}
