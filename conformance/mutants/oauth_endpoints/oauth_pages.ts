/**
 * Faults of the page that asks the user, and of who may answer it.
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
} from "../message.ts";
import type { Handler, Mutant } from "../mutant.ts";
import { brokenFields, redirected } from "../page.ts";

const practice = (...ids: string[]): string[] => ids.map((id) => `oauth/best_practice/${id}`);

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

/** Allows a client of the web by itself what a user allowed it once. */
function allowedOnce(next: Handler): Handler {
  const asked = new Map<string, string>();
  const allowed = new Set<string>();
  const answerItself = unasked(next);
  return async (request) => {
    const form = await readForm(request);
    if (form) {
      const client = asked.get(form.get("transaction") ?? "");
      if (client !== undefined && form.get("decision") === "approve") allowed.add(client);
      return await next(request);
    }
    const { searchParams } = new URL(request.url);
    const client = searchParams.get("client_id") ?? "";
    if (allowed.has(client)) return await answerItself(request);
    const answer = await next(request);
    const transaction = transactionIn(await answer.clone().text());
    if (transaction !== undefined && searchParams.get("redirect_uri")?.startsWith("https:")) {
      asked.set(transaction, client);
    }
    return answer;
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
    name: "oauth/authorize-breaks-fields",
    fault: "Writes line ends of the state into a field",
    wrap: brokenFields(AUTHORIZE, "state"),
    breaks: ["oauth/authorize/state-breaks-no-field"],
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
    name: "oauth/consent-once-and-for-all",
    fault: "Answers what a user allowed a public client of the web before",
    wrap: at(AUTHORIZE, allowedOnce),
    breaks: ["oauth/consent/asked-again-with-https"],
    mayBreak: { "There is no second page on which the user could refuse": ["oauth/"] },
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
