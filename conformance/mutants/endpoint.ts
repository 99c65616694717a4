/**
 * Faults that any endpoint may have to which clients post forms: other methods and media types, parameters from the
 * address or repeated, secrets that are not compared.
 *
 * @module
 */
import { faultyForms, faultyRequests, readForm, withForm, withRequestFields } from "./message.ts";
import type { Wrap } from "./mutant.ts";
import { basic, clientOf, readBasic } from "./registered.ts";

/** Reads a body of another type as if it were a form. */
export function alsoReads(path: string, type: RegExp): Wrap {
  return faultyRequests(path, async (request) => {
    const sent = request.headers.get("content-type") ?? "";
    if (request.method !== "POST" || !type.test(sent)) return request;
    const text = await request.clone().text();
    return withForm(request, new URLSearchParams(/json/.test(sent) ? JSON.parse(text) : text));
  });
}

/** Treats other methods as POST. */
export function alsoTakes(path: string, ...methods: string[]): Wrap {
  return faultyRequests(path, async (request) => {
    if (!methods.includes(request.method)) return request;
    const form = new URLSearchParams(request.method === "GET" ? "" : await request.clone().text());
    for (const [name, value] of new URL(request.url).searchParams) form.append(name, value);
    return withForm(request, form);
  });
}

/** Reads parameters from the address as well. */
export function queryToo(path: string): Wrap {
  return faultyForms(path, (form, request) => {
    for (const [name, value] of new URL(request.url).searchParams) {
      if (!form.has(name)) form.set(name, value);
    }
  });
}

/** Takes one of repeated parameters. */
export function repeated(path: string, which: "first" | "last"): Wrap {
  return faultyForms(path, (form) => {
    for (const name of new Set(form.keys())) {
      const all = form.getAll(name);
      if (name !== "resource" && all.length > 1) form.set(name, which === "first" ? all[0]! : all.at(-1)!);
    }
  });
}

/** Replaces the secret that a client sends by its right one, if the fault likes what was sent. */
export function taken(path: string, likes: (sent: string, right: string) => boolean): Wrap {
  return faultyRequests(path, async (request) => {
    const form = await readForm(request);
    const inField = readBasic(request.headers.get("authorization"));
    const known = clientOf(inField?.id ?? form?.get("client_id") ?? null);
    if (!form || known?.secret === undefined || form.getAll("client_secret").length > 1) return request;
    const sent = inField?.secret ?? form.get("client_secret") ?? "";
    if (!likes(sent, known.secret)) return request;
    if (inField) return withRequestFields(request, { authorization: basic(known) });
    form.set("client_secret", known.secret);
    return withForm(request, form);
  });
}
