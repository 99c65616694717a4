/**
 * Faults of pages and of where they send the browser: login, consent, and what other sites may have of them.
 *
 * @module
 */
import {
  at,
  AUTHORIZE,
  faultyAnswers,
  LOGIN,
  pathOf,
  readForm,
  withBody,
  withFields,
  withForm,
  withRequestFields,
} from "./message.ts";
import type { Handler, Mutant, Wrap } from "./mutant.ts";

const login = (...ids: string[]): string[] => ids.map((id) => `oauth/login/never-to-${id}`);
const practice = (...ids: string[]): string[] => ids.map((id) => `oauth/best_practice/${id}`);

/** Sends a browser that signed in where its address says, as the fault understands it. */
const loginGoes = (understand: (to: string, own: string) => string | undefined): Wrap =>
  faultyAnswers(LOGIN, (answer, request) => {
    const url = new URL(request.url);
    const to = url.searchParams.get("redirect");
    if (request.method !== "POST" || to === null || answer.status === 403) return answer;
    const location = understand(to, url.origin);
    // What no field can hold goes nowhere.
    return location === undefined || /[^\x20-\x7e]/.test(location)
      ? answer
      : withFields(answer, { location }, 303);
  });

const pathIn = (to: string, own: string): string | undefined => {
  const url = URL.parse(to, own);
  return url?.origin === own ? url.pathname + url.search : undefined;
};

const redirected = (path: string, status: number): Wrap =>
  faultyAnswers(
    path,
    (answer, request) =>
      request.method === "POST" && answer.status < 400
        ? withFields(answer, { location: answer.headers.get("location") ?? "/" }, status)
        : answer,
  );

/** Writes a text with line ends into a field, as a server does that writes its fields itself. */
function brokenFields(path: string, parameter: string): Wrap {
  return faultyAnswers(path, (answer, request) => {
    const [, ...lines] = (new URL(request.url).searchParams.get(parameter) ?? "").split("\r\n");
    const headers = new Headers(answer.headers);
    for (const line of lines) {
      const [name = "", ...value] = line.split(": ");
      if (name === "" || value.length === 0) break;
      headers.append(name, value.join(": "));
    }
    return new Response(answer.body, { status: answer.status, headers });
  });
}

const transactionIn = (page: string): string | undefined =>
  /name="transaction" value="([^"]+)"/.exec(page)?.[1];

/** Answers its own question. */
function unasked(next: Handler): Handler {
  return async (request) => {
    const answer = await next(request);
    if (request.method !== "GET") return answer;
    const transaction = transactionIn(await answer.clone().text());
    if (transaction === undefined) return answer;
    const form = new URLSearchParams({ transaction, decision: "approve" });
    return await next(
      withForm(new Request(new URL(AUTHORIZE, request.url), { headers: request.headers }), form),
    );
  };
}

/**
 * Takes a form from any browser for that of the browser for which the page was made. Who signs in there keeps that
 * one's session alive.
 */
function anyBrowser(next: Handler): Handler {
  const cookies = new Map<string, string>();
  return async (request) => {
    if (pathOf(request) === LOGIN) return await next(withRequestFields(request, { cookie: undefined }));
    if (pathOf(request) !== AUTHORIZE) return await next(request);
    const transaction = (await readForm(request))?.get("transaction");
    if (transaction) {
      return await next(withRequestFields(request, { cookie: cookies.get(transaction), origin: undefined }));
    }
    const answer = await next(request);
    const made = transactionIn(await answer.clone().text());
    if (made !== undefined) cookies.set(made, request.headers.get("cookie") ?? "");
    return answer;
  };
}

const isPage = (answer: Response): boolean =>
  answer.headers.get("content-type")?.startsWith("text/html") === true;

export const PAGES: readonly Mutant[] = [
  {
    name: "oauth/login-goes-where-parsed",
    fault: "Looks for slashes, and goes to what a URL parser makes of the rest",
    wrap: loginGoes((to) => to.includes("//") ? undefined : URL.parse(to)?.href),
    breaks: login("no-slashes", "one-slash"),
    mayBreak: { "Their scheme has no slashes either": login("script", "data", "") },
  },
  {
    name: "oauth/login-goes-without-controls",
    fault: "Drops control characters and blanks after it has looked at an address",
    wrap: loginGoes((to) => /^[a-z]+:|^\/\//i.test(to) ? undefined : to.replace(/[^!-~]/g, "")),
    breaks: login("tab-between-slashes", "line-end-between-slashes", "control-before", "null-byte"),
    mayBreak: {
      "Theirs looks like a path, too": login(
        "backslash-slash",
        "slash-backslash",
        "backslashes",
        "blank-before",
      ),
    },
  },
  {
    name: "oauth/login-goes-to-short-paths",
    fault: "Takes dots out of paths after it has looked at them",
    wrap: loginGoes((to, own) => to.startsWith("//") ? undefined : pathIn(to, own)),
    breaks: login("dot-slashes", "dots-slashes"),
  },
  {
    name: "oauth/login-goes-to-decoded",
    fault: "Decodes an address after it has looked at it",
    wrap: loginGoes((to, own) => {
      const path = to.startsWith("//") ? undefined : pathIn(to, own);
      return path?.startsWith("//") ? undefined : path && decodeURIComponent(path);
    }),
    breaks: login("encoded-slashes"),
  },
  {
    name: "oauth/login-breaks-fields",
    fault: "Writes line ends of an address into a field",
    wrap: brokenFields(LOGIN, "redirect"),
    breaks: ["oauth/login/target-breaks-no-field"],
  },
  {
    name: "oauth/authorize-breaks-fields",
    fault: "Writes line ends of the state into a field",
    wrap: brokenFields(AUTHORIZE, "state"),
    breaks: ["oauth/authorize/state-breaks-no-field"],
  },
  {
    name: "oauth/login-then-302",
    fault: "Sends the browser on by 302 after a password",
    wrap: redirected(LOGIN, 302),
    breaks: practice("password-then-303"),
  },
  {
    name: "oauth/login-then-307",
    fault: "Has the browser send the password on",
    wrap: redirected(LOGIN, 307),
    breaks: practice("password-not-forwarded", "password-then-303"),
    mayBreak: { "They ask by which status the browser goes on": ["oauth/login/"] },
    stops: "Nobody is signed in by a page that sends the form on",
  },
  {
    name: "oauth/login-again-by-307",
    fault: "Sends a browser with a wrong password back to the form by 307",
    wrap: faultyAnswers(
      LOGIN,
      (answer, request) =>
        request.method === "POST" && (answer.status === 401 || answer.status === 403)
          ? withFields(answer, { location: LOGIN }, 307)
          : answer,
    ),
    breaks: practice("wrong-password-not-forwarded"),
    mayBreak: { "Who is refused is not sent anywhere": ["oauth/login/"] },
  },
  {
    name: "oauth/consent-then-307",
    fault: "Has the browser send the form of the consent page on to the client",
    wrap: redirected(AUTHORIZE, 307),
    breaks: practice("consent-not-forwarded"),
    mayBreak: { "The user's answer goes on by 302 or 303": ["oauth/"] },
    stops: "Nobody is asked by a page that sends the form on",
  },
  {
    name: "oauth/consent-unasked",
    fault: "Answers its question itself",
    wrap: at(AUTHORIZE, unasked),
    breaks: ["oauth/consent/question-before-code", "oauth/registration/never-without-the-user"],
    mayBreak: { "There is no page on which the user could refuse": ["oauth/"] },
    stops: "There is no page to be read",
  },
  {
    name: "oauth/consent-in-any-browser",
    fault: "Takes the form of its page from any browser",
    wrap: anyBrowser,
    breaks: ["oauth/consent/without-session", "oauth/consent/token-of-another-page"],
  },
  {
    name: "oauth/consent-page-loads",
    fault: "Loads a script from elsewhere into the page that asks",
    wrap: faultyAnswers(AUTHORIZE, async (answer) => {
      if (!isPage(answer)) return answer;
      const page = (await answer.clone().text())
        .replace("</body>", '<script src="https://cdn.example/a.js"></script></body>');
      return withFields(withBody(answer, page), {
        "content-security-policy": "frame-ancestors 'none'",
        "x-frame-options": "DENY",
      });
    }),
    breaks: practice("page-loads-nothing"),
  },
  {
    name: "oauth/consent-page-tells-referrer",
    fault: "Lets the page that asks tell its address",
    wrap: faultyAnswers(AUTHORIZE, (answer) => withFields(answer, { "referrer-policy": undefined })),
    breaks: practice("page-tells-no-referrer"),
  },
  {
    name: "oauth/login-page-tells-referrer",
    fault: "Lets the login page tell its address",
    wrap: faultyAnswers(LOGIN, (answer) => withFields(answer, { "referrer-policy": "unsafe-url" })),
    breaks: practice("login-tells-no-referrer"),
  },
  {
    name: "oauth/authorize-by-post-only",
    fault: "Refuses GET at the authorization endpoint to those who are signed in",
    wrap: at(
      AUTHORIZE,
      (next) => async (request) =>
        request.method === "GET" && request.headers.get("cookie")?.includes("session_id=")
          ? new Response(null, { status: 405, headers: { allow: "POST" } })
          : await next(request),
    ),
    breaks: ["oauth/authorize/get", "oauth/metadata/authorization-endpoint-works", "oauth/scope/left-out"],
    mayBreak: { "Clients send browsers here by GET, and hear nothing of errors": ["oauth/"] },
    stops: "No browser gets a code",
  },
];
