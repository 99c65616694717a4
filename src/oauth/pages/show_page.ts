/**
 * Writes a page and its response: by the hook of the operator, or by the module of the view in the layout of all pages.
 *
 * @module
 */
import { Markup } from "../../http/page.ts";
import { type Fields, NO_STORE, respond } from "../../http/response.ts";
import { chooseLanguage } from "./language.ts";
import type { Language } from "./languages.ts";
import { contentSecurityPolicy, writeDocument } from "./layout/document.ts";
import type { PageServer, ShowOptions } from "./page_server.ts";
import { PAGE_MODULES } from "./page_modules.ts";
import type { RenderContext } from "./settings.ts";
import type { Texts, View } from "./views.ts";

/** As `showPage` of `page.ts`, which loads this module. */
export async function showPage(
  server: PageServer,
  request: Request,
  view: View,
  options: ShowOptions = {},
): Promise<Response> {
  const { pages, issuer } = server;
  const { status = 200, script } = options;
  const fields = [...options.fields ?? [], ...retryFields(view)];
  const language = chooseLanguage(request, options.ui_locales, pages.defaultLanguage);
  const { host } = new URL(issuer);
  const product = pages.name ?? host;
  const module = PAGE_MODULES[view.name];
  const texts = { ...await module.texts(language), ...pages.texts?.[language] };
  const own = pages.render &&
    await renderOwn(server, view, {
      language,
      texts: texts as unknown as Texts,
      status,
      product,
      logo: pages.logo,
      script,
    });
  if (own) {
    const policy = contentSecurityPolicy(pages, options, true);
    return respond(status, own.body, [...own.fields, ...pageFields(language, policy), ...fields]);
  }
  const content = await module.write(view, { texts, language, product, host });
  const text = writeDocument({ pages, content, language, product, host, script });
  const policy = contentSecurityPolicy(pages, options, false);
  return respond(status, text, [...pageFields(language, policy), ...fields]);
}

/** When a problem ends by itself, also for programs (RFC 9110 section 10.2.3). */
function retryFields(view: View): Fields {
  const problem = "problem" in view ? view.problem : undefined;
  const seconds = typeof problem === "object" && "seconds" in problem ? problem.seconds : undefined;
  return seconds === undefined ? [] : [["retry-after", String(seconds)]];
}

interface OwnPage {
  readonly body: string;
  /** Of a Response that the hook made, without those that the server sets. */
  readonly fields: Fields;
}

/** What the hook made; `undefined` when it left the page to the server, or failed. */
async function renderOwn(
  { pages, observe }: PageServer,
  view: View,
  context: RenderContext,
): Promise<OwnPage | undefined> {
  try {
    const made = await pages.render!(view, context);
    if (made === undefined || typeof made === "string") return made ? { body: made, fields: [] } : undefined;
    if (made instanceof Markup) return { body: made.text, fields: [] };
    return {
      body: await made.text(),
      fields: [...made.headers].filter(([name]) => !SET_BY_SERVER.has(name)),
    };
  } catch (error) {
    observe({ type: "fault", where: "oauth", error });
    return undefined;
  }
}

function pageFields(language: Language, policy: string): Fields {
  return [
    ["content-type", "text/html; charset=utf-8"],
    ["content-language", language],
    ["content-security-policy", policy],
    ...FIELDS,
  ];
}

const FIELDS: Fields = [
  ["vary", "accept-language"],
  ["x-frame-options", "DENY"],
  ["x-content-type-options", "nosniff"],
  ["referrer-policy", "no-referrer"],
  NO_STORE,
];

const SET_BY_SERVER: ReadonlySet<string> = new Set([
  ...FIELDS.map(([name]) => name),
  "content-type",
  "content-language",
  "content-security-policy",
  "content-length",
  "content-encoding",
  "transfer-encoding",
  "set-cookie",
]);
