/**
 * Signs in and gives consent on the pages of a server as a person does: opens a page, fills in the named
 * fields, presses the named button and follows redirects until the browser leaves for the client
 * (`FORMAT.md` section 9).
 *
 * @module
 */
import { ExpectationFailed } from "../outcome.ts";
import { type Button, type Form, type Page, parsePage } from "./page.ts";
import type { PageWalk } from "./target_description.ts";
import { isJsonObject, type JsonObject, type Step } from "../vector/vector_file.ts";
import type { VectorContext } from "../context.ts";

/** Limit of pages and redirects in one walk. */
const MAX_PAGES = 16;
/** Limit of forms, fields and buttons in a message. */
const MAX_NAMED = 12;

/** @throws {ExpectationFailed} that says which page it stopped at, and what stands there */
export async function walkPages(
  pageWalk: PageWalk,
  context: VectorContext,
  runStep: (step: Step, context: VectorContext) => Promise<void>,
): Promise<void> {
  const { page, query } = pageWalk;
  let url = new URL(page, context.target.base);
  const get = async (title: string, request: JsonObject) => {
    await runStep({ title, as: "browser", request }, context);
    const broken = context.last["broken"];
    if (broken !== undefined) {
      throw new ExpectationFailed(`the exchange failed (${broken}): ${context.last["why"]}`);
    }
  };
  await get("open the page", { url: url.href, ...(query && { query }) });
  // A form without an action is sent to the full URL of its page.
  url = new URL(String(context.last["url"] ?? url.href));
  const filled = new Map<string, number>();
  let isFormLast = false;
  let kind = "redirects";
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const redirect = findRedirect(context, url);
    if (redirect) {
      if (leavesTarget(redirect, query, context)) return;
      await get("follow the redirect", { url: redirect.href });
      url = redirect;
      isFormLast = false;
      continue;
    }
    kind = "pages";
    const currentPage = parsePage(String(context.last["body"] ?? ""));
    if (currentPage.refresh !== undefined) {
      url = new URL(currentPage.refresh, url);
      await get("follow the page", { url: url.href });
      continue;
    }
    const chosen = chooseForm(currentPage, pageWalk);
    if (!chosen) {
      return checkLastPage(
        currentPage,
        url,
        { hasSent: filled.size > 0, wasTaken: filled.size > 0 && !isFormLast },
        pageWalk,
        context,
      );
    }
    const { form, button } = chosen;
    const times = (filled.get(formKey(form)) ?? 0) + 1;
    filled.set(formKey(form), times);
    if (times > 2) {
      throw new ExpectationFailed(
        `${url.pathname} shows the same form again after it was sent. Page text: ${
          quoteText(currentPage.text)
        }`,
      );
    }
    const described = toSubmission(form, button, pageWalk, url);
    await get(button ? `press "${buttonLabel(button)}"` : "send the form", described);
    url = new URL(String(described["url"]));
    isFormLast = true;
  }
  throw new ExpectationFailed(`stopped after ${MAX_PAGES} ${kind}, the last at ${url.pathname}`);
}

function findRedirect({ last }: VectorContext, from: URL): URL | undefined {
  const status = Number(last["status"]);
  const location = (last["headers"] as JsonObject | undefined)?.["location"];
  if (status < 300 || status > 399 || typeof location !== "string") return undefined;
  return URL.parse(location, from) ?? undefined;
}

/** Whether a redirect leads to the client, or to another origin that the kit does not contact. */
function leavesTarget(to: URL, query: JsonObject | undefined, { target }: VectorContext): boolean {
  const back = typeof query?.["redirect_uri"] === "string" ? URL.parse(query["redirect_uri"]) : null;
  return !target.origins.has(to.origin) || back?.origin === to.origin && back.pathname === to.pathname;
}

interface Chosen {
  readonly form: Form;
  readonly button: Button | undefined;
}

/** The form with a named field or button. If none is named, the only form of the page. */
function chooseForm({ forms }: Page, { fields = {}, press }: PageWalk): Chosen | undefined {
  const wanted = [press ?? []].flat().map((text) => text.toLowerCase());
  const isWanted = ({ name, value, text }: Button) =>
    [name, value, text, `${name}=${value}`].some((each) => wanted.includes(each.toLowerCase()));
  const hasField = (form: Form) => Object.keys(fields).some((name) => form.names.has(name));
  for (const form of forms) {
    const button = form.buttons.find(isWanted);
    if (button) return { form, button };
  }
  const form = forms.find(hasField) ??
    (wanted.length === 0 && Object.keys(fields).length === 0 && forms.length === 1 ? forms[0] : undefined);
  return form && { form, button: form.buttons[0] };
}

function toSubmission(
  form: Form,
  button: Button | undefined,
  { fields = {} }: PageWalk,
  from: URL,
): JsonObject {
  const names = new Set(Object.keys(fields).filter((name) => form.names.has(name)));
  const pairs: (readonly [string, unknown])[] = [
    ...form.fields.filter(([name]) => !names.has(name)),
    ...[...names].map((name) => [name, fields[name]] as const),
    ...(button && button.name !== "" ? [[button.name, button.value] as const] : []),
  ];
  const sent: Record<string, unknown> = Object.create(null);
  for (const [name, value] of pairs) {
    sent[name] = name in sent ? [sent[name], value].flat() : value;
  }
  const url = new URL(button?.action ?? form.action ?? "", from);
  url.hash = "";
  if (form.method === "POST") return { method: "POST", url: url.href, form: { ...sent } };
  url.search = "";
  return { url: url.href, query: { ...sent } };
}

/**
 * Checks the last page, which has no named field or button. A sign-in ends here. The page after an accepted form may be
 * missing, but an error status after a form means that it was refused.
 */
function checkLastPage(
  lastPage: Page,
  url: URL,
  { hasSent, wasTaken }: { readonly hasSent: boolean; readonly wasTaken: boolean },
  pageWalk: PageWalk,
  { last }: VectorContext,
): void {
  if (pageWalk.query !== undefined || wasTaken) return;
  const status = Number(last["status"]);
  if (status >= 400) {
    throw new ExpectationFailed(
      `${url.pathname} returned status ${status}. Page text: ${quoteText(lastPage.text)}`,
    );
  }
  if (!hasSent) {
    throw new ExpectationFailed(
      `${url.pathname} has no field of "fields" and no button of "press": ${describePage(lastPage)}`,
    );
  }
}

/** The forms of a page, for the author of "fields" and "press". */
function describePage({ forms, text }: Page): string {
  if (forms.length === 0) return `the page has no form. Page text: ${quoteText(text)}`;
  return forms.slice(0, MAX_NAMED).map(({ names, buttons }) =>
    `the page has a form with the fields ${quoteNames([...names])} and the buttons ${
      quoteNames(buttons.map(buttonLabel))
    }`
  ).join("; ");
}

function formKey({ action, names, buttons }: Form): string {
  return JSON.stringify([action, [...names], buttons.map(buttonLabel)]);
}

function buttonLabel({ text, value, name }: Button): string {
  return text || value || name;
}

function quoteNames(names: readonly string[]): string {
  if (names.length === 0) return "(none)";
  const shown = names.slice(0, MAX_NAMED).map((name) => `"${name.slice(0, 60)}"`).join(", ");
  return names.length > MAX_NAMED ? `${shown} …` : shown;
}

function quoteText(text: string): string {
  return text === "" ? "(empty)" : text.length > 160 ? `"${text.slice(0, 160)}…"` : `"${text}"`;
}

/** The last response of an authorization that did not reach the client. */
export function describeLastPage({ last }: VectorContext): string {
  const status = last["status"];
  if (status === undefined) return "there was no response";
  const body = String(last["body"] ?? "");
  return `the last response has status ${status}, ${describePage(parsePage(body))}`;
}

/** Whether a procedure walks pages. */
export function isPageWalk(procedure: unknown): procedure is PageWalk {
  return isJsonObject(procedure) && typeof procedure["page"] === "string" && procedure["exec"] === undefined;
}
