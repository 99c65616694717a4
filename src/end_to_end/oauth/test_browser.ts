/**
 * A browser that does by protocol what a user does at the pages of a Trivet. Only tests import this.
 *
 * @module
 */

export const CALLBACK: string = "http://127.0.0.1/callback";

/** What the user of a provider does whose pages are scripts: the URL to which the browser goes then. */
export interface ScriptedProvider {
  readonly origin: string;
  /** @param send sends a request with the cookies of the browser, and keeps those of the response */
  act(url: URL, send: (path: string, init?: RequestInit) => Promise<Response>): Promise<URL>;
}

/**
 * A browser that does what a user does: chooses the provider `work`, signs in there, and consents everywhere.
 * @param end the origin at which it stops
 */
export async function browse(
  start: URL,
  login: Record<string, string>,
  scripted?: ScriptedProvider,
  end: string = new URL(CALLBACK).origin,
): Promise<URL> {
  const jars = new Map<string, Map<string, string>>();
  let url = start;
  let form: Record<string, string> | undefined;

  async function send(to: URL, init: RequestInit): Promise<Response> {
    const jar = jars.get(to.hostname) ?? new Map<string, string>();
    jars.set(to.hostname, jar);
    const cookie = [...jar].map((pair) => pair.join("=")).join("; ");
    const headers = { ...init.headers as Record<string, string>, cookie };
    const response = await fetch(to, { redirect: "manual", ...init, headers });
    for (const field of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(field)!;
      if (value === "") jar.delete(name!);
      else jar.set(name!, value!);
    }
    return response;
  }

  for (let step = 0; step < 25; step++) {
    if (url.origin === end) return url;
    const response = await send(url, {
      headers: { accept: "text/html" },
      ...(form && { method: "POST", body: new URLSearchParams(form) }),
    });
    form = undefined;
    const location = response.headers.get("location");
    const page = await response.text();
    if (location !== null) {
      url = new URL(location, url);
      continue;
    }
    if (scripted && url.origin === scripted.origin) {
      url = await scripted.act(url, (path, init = {}) => send(new URL(path, url), init));
      continue;
    }
    const unescaped = page.replaceAll("&amp;", "&");
    const link = /href="([^"]*\/login\/work[^"]*)"/.exec(unescaped)?.[1];
    if (link !== undefined) {
      url = new URL(link, url);
      continue;
    }
    // The form for the decision, of a page with others beside it.
    const forms = unescaped.match(/<form[^>]*>[^]*?<\/form>/g) ?? [];
    const chosen = forms.find((each) => each.includes('name="decision"')) ?? forms[0];
    const action = /^<form[^>]* action="([^"]+)"/.exec(chosen ?? "")?.[1];
    if (chosen === undefined || action === undefined) {
      throw new Error(`unexpected page at ${url.pathname} (${response.status}): ${page.slice(-1500)}`);
    }
    const hidden = [...chosen.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
    const fields = [...chosen.matchAll(/<input[^>]* name="([^"]+)"/g)].map(([, name]) => name!);
    form = {
      ...Object.fromEntries(hidden.map(([, name, value]) => [name!, value!])),
      ...Object.fromEntries(Object.entries(login).filter(([name]) => fields.includes(name))),
      ...(chosen.includes('name="decision"') && { decision: "approve" }),
    };
    url = new URL(action, url);
  }
  throw new Error("too many steps");
}
