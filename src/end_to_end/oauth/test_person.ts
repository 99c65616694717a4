/**
 * A user with a minimal browser: follows redirects, keeps cookies, logs in and consents. Only tests import this.
 *
 * @module
 */

export interface Person {
  /** Follows an authorization request and consents. Returns the redirect URL of the client. */
  allow(authorizationUrl: string | URL): Promise<URL>;
  /** Opens a page, without following a redirect. */
  visit(url: string | URL): Promise<Response>;
  /** Signs out on the logout page of the server. */
  signOut(issuer: string): Promise<void>;
  /** Whether the device page is shown without a login. */
  isSignedIn(issuer: string): Promise<boolean>;
}

/** A user with these credentials. */
export function newPerson(username: string, password: string): Person {
  const cookies = new Map<string, string>();

  async function send(url: URL, form?: Record<string, string>): Promise<Response> {
    const response = await fetch(url, {
      redirect: "manual",
      headers: {
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; "),
        accept: "text/html",
      },
      ...(form && { method: "POST", body: new URLSearchParams(form) }),
    });
    for (const field of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(field)!;
      cookies.set(name!, value!);
    }
    return response;
  }

  return {
    async allow(authorizationUrl) {
      let url = new URL(authorizationUrl);
      const { origin } = url;
      let response = await send(url);
      for (let step = 0; step < 10; step++) {
        const location = response.headers.get("location");
        if (location !== null) {
          await response.body?.cancel();
          url = new URL(location, url);
          if (url.origin !== origin) return url;
          response = url.pathname.endsWith("/login")
            ? await send(url, { username, password })
            : await send(url);
          continue;
        }
        const page = await response.text();
        const transaction = /name="transaction" value="([^"]+)"/.exec(page)?.[1];
        if (transaction === undefined) {
          throw new Error(`unexpected page (${response.status}): ${page}`);
        }
        // The form of the decision, not that of another account.
        const form = page.split("<form ").find((each) => each.includes('name="transaction"'))!;
        url = new URL(/action="([^"]+)"/.exec(form)![1]!, url);
        response = await send(url, { transaction, decision: "approve" });
      }
      throw new Error("too many redirects");
    },
    visit: (url) => send(new URL(url)),
    async signOut(issuer) {
      await (await send(new URL(`${issuer}/logout`), {})).body?.cancel();
    },
    async isSignedIn(issuer) {
      const response = await send(new URL(`${issuer}/device`));
      await response.body?.cancel();
      return response.status === 200;
    },
  };
}
