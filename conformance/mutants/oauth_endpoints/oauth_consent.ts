/**
 * Faults in the consent page and in which browser may submit it.
 *
 * @module
 */
import {
  AUTHORIZE,
  changeResponses,
  LOGIN,
  onPath,
  pathOf,
  readForm,
  withBody,
  withForm,
  withHeaders,
  withRequestHeaders,
} from "../http_faults.ts";
import type { Handler, Mutant } from "../mutant.ts";
import { findTransaction, injectHeaders, redirectWith } from "../browser_faults.ts";

const practice = (...ids: string[]): string[] => ids.map((id) => `oauth/best_practice/${id}`);

/** Vectors about who may frame the pages. */
const FRAMED = [
  "oauth/consent/not-in-a-frame",
  "oauth/consent/error-page-not-in-a-frame",
  "oauth/login/not-in-a-frame",
  ...practice("page-says-who-may-frame-it", "error-says-who-may-frame-it", "login-says-who-may-frame-it"),
];

/** Submits the consent form itself. */
function approveItself(next: Handler): Handler {
  return async (request) => {
    const answer = await next(request);
    if (request.method !== "GET") return answer;
    const transaction = findTransaction(await answer.clone().text());
    if (transaction === undefined) return answer;
    const form = new URLSearchParams({ transaction, decision: "approve" });
    return await next(
      withForm(new Request(new URL(AUTHORIZE, request.url), { headers: request.headers }), form),
    );
  };
}

/** Submits the consent form itself for a web client that the user approved before. */
function rememberApproval(next: Handler): Handler {
  const requested = new Map<string, string>();
  const allowed = new Set<string>();
  const answerItself = approveItself(next);
  return async (request) => {
    const form = await readForm(request);
    if (form) {
      const client = requested.get(form.get("transaction") ?? "");
      if (client !== undefined && form.get("decision") === "approve") allowed.add(client);
      return await next(request);
    }
    const { searchParams } = new URL(request.url);
    const client = searchParams.get("client_id") ?? "";
    if (allowed.has(client)) return await answerItself(request);
    const answer = await next(request);
    const transaction = findTransaction(await answer.clone().text());
    if (transaction !== undefined && searchParams.get("redirect_uri")?.startsWith("https:")) {
      requested.set(transaction, client);
    }
    return answer;
  };
}

/**
 * Submits a form of any browser with the cookie of the browser that requested the page. Drops the cookie at login, so
 * that the first browser's session stays valid.
 */
function acceptAnyBrowser(next: Handler): Handler {
  const cookies = new Map<string, string>();
  return async (request) => {
    if (pathOf(request) === LOGIN) return await next(withRequestHeaders(request, { cookie: undefined }));
    if (pathOf(request) !== AUTHORIZE) return await next(request);
    const transaction = (await readForm(request))?.get("transaction");
    if (transaction) {
      return await next(withRequestHeaders(request, { cookie: cookies.get(transaction), origin: undefined }));
    }
    const answer = await next(request);
    const made = findTransaction(await answer.clone().text());
    if (made !== undefined) cookies.set(made, request.headers.get("cookie") ?? "");
    return answer;
  };
}

/** Redirects again when a form is submitted again. */
function repeatApproval(next: Handler): Handler {
  const answers = new Map<string, Response>();
  return async (request) => {
    const transaction = (await readForm(request))?.get("transaction");
    const first = answers.get(transaction ?? "");
    if (first) return first.clone() as Response;
    const answer = await next(request);
    if (transaction && answer.headers.has("location")) answers.set(transaction, answer.clone() as Response);
    return answer;
  };
}

const isPage = (answer: Response): boolean =>
  answer.headers.get("content-type")?.startsWith("text/html") === true;

export const CONSENT: readonly Mutant[] = [
  {
    name: "oauth/authorize-header-injection",
    fault: "Writes line breaks of state into a header",
    wrap: injectHeaders(AUTHORIZE, "state"),
    killedBy: ["oauth/authorize/state-breaks-no-field"],
  },
  {
    name: "oauth/consent-then-307",
    fault: "Redirects with 307 after consent, so that the browser sends the form to the client",
    wrap: redirectWith(AUTHORIZE, 307),
    killedBy: practice("consent-not-forwarded"),
    mayFail: { "They expect 302 or 303 after consent": ["oauth/"] },
    preventsSetup: "The consent form does not reach the client as a redirect",
  },
  {
    name: "oauth/consent-skipped",
    fault: "Approves the request without asking the user",
    wrap: onPath(AUTHORIZE, approveItself),
    killedBy: ["oauth/consent/question-before-code", "oauth/registration/never-without-the-user"],
    mayFail: { "No consent page is shown": ["oauth/"] },
    preventsSetup: "No consent page is shown",
  },
  {
    name: "oauth/consent-remembered-for-public",
    fault: "Skips consent that the user gave a public web client before",
    wrap: onPath(AUTHORIZE, rememberApproval),
    killedBy: ["oauth/consent/asked-again-with-https"],
    mayFail: { "No second consent page is shown": ["oauth/"] },
  },
  {
    name: "oauth/consent-in-any-browser",
    fault: "Accepts the consent form from any browser",
    wrap: acceptAnyBrowser,
    killedBy: ["oauth/consent/without-session", "oauth/consent/token-of-another-page"],
  },
  {
    name: "oauth/consent-form-works-twice",
    fault: "Redirects with a code again when the consent form is submitted again",
    wrap: onPath(AUTHORIZE, repeatApproval),
    killedBy: ["oauth/consent/twice"],
  },
  {
    name: "oauth/consent-page-loads-script",
    fault: "Loads a script from another origin into the consent page",
    wrap: changeResponses(AUTHORIZE, async (answer) => {
      if (!isPage(answer)) return answer;
      // Parsers take what follows the end of the body into it, and pages may leave that end out.
      const page = `${await answer.clone().text()}<script src="https://cdn.example/a.js"></script>`;
      return withHeaders(withBody(answer, page), {
        "content-security-policy": "frame-ancestors 'none'",
        "x-frame-options": "DENY",
      });
    }),
    killedBy: practice("page-loads-nothing"),
  },
  {
    name: "oauth/pages-framed-by-anyone",
    fault: "Names every site in frame-ancestors, which browsers prefer to X-Frame-Options",
    wrap: changeResponses(
      undefined,
      (answer) =>
        isPage(answer) ? withHeaders(answer, { "content-security-policy": "frame-ancestors *" }) : answer,
    ),
    killedBy: FRAMED,
  },
  {
    name: "oauth/pages-framed-by-any-scheme",
    fault: "Names a scheme in frame-ancestors, and so every site",
    wrap: changeResponses(
      undefined,
      (answer) =>
        isPage(answer)
          ? withHeaders(answer, {
            "content-security-policy": "default-src 'none'; frame-ancestors 'self' https:",
            "x-frame-options": undefined,
          })
          : answer,
    ),
    killedBy: [...FRAMED, ...practice("page-for-old-browsers")],
  },
  {
    name: "oauth/pages-echo-without-script",
    fault: "Writes request parameters into its pages and removes only script elements",
    wrap: changeResponses(undefined, async (answer, request) => {
      if (!isPage(answer)) return answer;
      const sent = [...new URL(request.url).searchParams.values()].join(" ");
      const shown = sent.replace(/<script.*?<\/script>/g, "");
      return withBody(answer, `${await answer.text()}${shown}`);
    }),
    killedBy: ["oauth/authorize/state-is-no-markup", "oauth/login/page-shows-no-markup"],
    mayFail: { "It reads the page": ["oauth/form_post/state-is-no-markup"] },
  },
  {
    name: "oauth/consent-page-leaks-referrer",
    fault: "Sends the consent page's URL as Referer",
    wrap: changeResponses(AUTHORIZE, (answer) => withHeaders(answer, { "referrer-policy": undefined })),
    killedBy: practice("page-tells-no-referrer"),
  },
  {
    name: "oauth/authorize-by-post-only",
    fault: "Refuses GET at the authorization endpoint to signed-in browsers",
    wrap: onPath(
      AUTHORIZE,
      (next) => async (request) =>
        request.method === "GET" && request.headers.get("cookie")?.includes("session_id=")
          ? new Response(null, { status: 405, headers: { allow: "POST" } })
          : await next(request),
    ),
    killedBy: ["oauth/authorize/get", "oauth/metadata/authorization-endpoint-works", "oauth/scope/left-out"],
    mayFail: { "Clients send browsers here by GET": ["oauth/"] },
    preventsSetup: "No browser gets a code",
  },
];
