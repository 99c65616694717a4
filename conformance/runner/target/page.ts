/**
 * Parses the forms of an HTML page as a browser without scripts sees them: enough to sign in and give
 * consent on a server under test. Time and memory are linear in the size of the page.
 *
 * @module
 */
import { decodeEntities } from "../vector/entities.ts";

export interface Button {
  readonly name: string;
  readonly value: string;
  /** The label. */
  readonly text: string;
  /** The URL that replaces the action of the form. */
  readonly action?: string;
}

export interface Form {
  readonly action: string | undefined;
  readonly method: "GET" | "POST";
  /** The fields and values that are sent by default. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  /** Names of all fields, unchecked boxes included. */
  readonly names: ReadonlySet<string>;
  readonly buttons: readonly Button[];
}

export interface Page {
  readonly forms: readonly Form[];
  /** The URL of `<meta http-equiv="refresh">`. */
  readonly refresh?: string;
  /** The visible text in one line. */
  readonly text: string;
}

type Attributes = Readonly<Record<string, string>>;

type Token =
  | { readonly text: string }
  | { readonly tag: string; readonly isEnd: boolean; readonly attributes: Attributes };

interface OpenForm {
  readonly action: string | undefined;
  readonly method: "GET" | "POST";
  readonly fields: [string, string][];
  readonly names: Set<string>;
  readonly buttons: Button[];
}

const ATTRIBUTE = /([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>`]+)))?/g;
/** Elements whose content is not visible. */
const HIDDEN_ELEMENTS: ReadonlySet<string> = new Set(["script", "style", "template", "noscript", "title"]);
/** The rest of a longer page is ignored. */
const MAX_PAGE_CHARACTERS = 1 << 20;
const MAX_FORMS = 100;
const MAX_FORM_PARTS = 500;

/** Parses an HTML page. It never throws. */
export function parsePage(html: string): Page {
  const forms: OpenForm[] = [];
  const byId = new Map<string, OpenForm>();
  const shown: string[] = [];
  let open: OpenForm | undefined;
  let refresh: string | undefined;
  /** The open element whose text is collected. */
  let inner: { readonly tag: string; text: string; end(text: string): void } | undefined;
  let select: { readonly name: string; value?: string } | undefined;
  for (const piece of tokenize(html.slice(0, MAX_PAGE_CHARACTERS))) {
    if ("text" in piece) {
      shown.push(piece.text);
      if (inner) inner.text += piece.text;
      continue;
    }
    const { tag, isEnd, attributes } = piece;
    shown.push(" ");
    if (inner && (inner.tag === tag || isEnd && (tag === "form" || tag === "select"))) {
      inner.end(normalizeText(inner.text));
      inner = undefined;
    }
    if (isEnd) {
      if (tag === "form") open = undefined;
      if (tag === "select" && select) addField(open, select.name, select.value);
      if (tag === "select") select = undefined;
      continue;
    }
    if (tag === "meta" && /^refresh$/i.test(attributes["http-equiv"] ?? "")) {
      refresh = /url\s*=\s*["']?([^"']+)/i.exec(attributes["content"] ?? "")?.[1]?.trim();
    }
    if (tag === "form") {
      if (forms.length >= MAX_FORMS) break;
      open = createForm(attributes);
      forms.push(open);
      if (attributes["id"] !== undefined) byId.set(attributes["id"], open);
    }
    const owner = attributes["form"] === undefined ? open : byId.get(attributes["form"]);
    if (!owner || "disabled" in attributes || owner.names.size + owner.buttons.length > MAX_FORM_PARTS) {
      continue;
    }
    const { name = "", value, type = "" } = attributes;
    if (tag === "input") addInput(owner, attributes);
    else if (tag === "button" && !/^(button|reset)$/i.test(type)) {
      inner = { tag, text: "", end: (text) => void owner.buttons.push(toButton(attributes, text)) };
    } else if (tag === "textarea") {
      inner = { tag, text: "", end: (text) => addField(owner, name, text) };
    } else if (tag === "select") select = { name };
    else if (tag === "option" && select && (select.value === undefined || "selected" in attributes)) {
      const chosen = select;
      chosen.value = value ?? "";
      if (value === undefined) inner = { tag, text: "", end: (text) => void (chosen.value = text) };
    }
  }
  return { forms, ...(refresh !== undefined && { refresh }), text: normalizeText(shown.join("")) };
}

function createForm({ action, method = "" }: Attributes): OpenForm {
  return {
    action,
    method: /^post$/i.test(method) ? "POST" : "GET",
    fields: [],
    names: new Set(),
    buttons: [],
  };
}

function addField(form: OpenForm | undefined, name: string, value: string = ""): void {
  if (!form || name === "") return;
  form.names.add(name);
  form.fields.push([name, value]);
}

function addInput(form: OpenForm, attributes: Attributes): void {
  const { name = "", value = "", type = "text", alt } = attributes;
  const kind = type.toLowerCase();
  if (kind === "submit" || kind === "image") form.buttons.push(toButton(attributes, alt ?? value));
  else if (kind === "checkbox" || kind === "radio") {
    form.names.add(name);
    if ("checked" in attributes) addField(form, name, attributes["value"] ?? "on");
  } else if (!/^(button|reset|file)$/.test(kind)) addField(form, name, value);
}

function toButton({ name = "", value = "", formaction }: Attributes, text: string): Button {
  return { name, value, text, ...(formaction !== undefined && { action: formaction }) };
}

/** Yields tags and the texts between them, without comments and invisible elements. */
function* tokenize(html: string): Generator<Token> {
  const lower = html.toLowerCase();
  let at = 0;
  while (at < html.length) {
    const start = html.indexOf("<", at);
    if (start < 0) break;
    if (start > at) yield { text: html.slice(at, start) };
    if (html.startsWith("<!--", start)) {
      const end = html.indexOf("-->", start);
      if (end < 0) return;
      at = end + 3;
      continue;
    }
    if (html[start + 1] === "!") {
      const end = html.indexOf(">", start);
      if (end < 0) return;
      at = end + 1;
      continue;
    }
    const name = /^<(\/?)([a-z][a-z0-9-]*)/i.exec(html.slice(start, start + 40));
    if (!name) {
      yield { text: "<" };
      at = start + 1;
      continue;
    }
    const end = findTagEnd(html, start);
    const tag = name[2]!.toLowerCase();
    const isEnd = name[1] === "/";
    at = end + 1;
    yield { tag, isEnd, attributes: isEnd ? {} : parseAttributes(html.slice(start + name[0].length, end)) };
    if (isEnd || !HIDDEN_ELEMENTS.has(tag)) continue;
    const close = lower.indexOf(`</${tag}`, at);
    if (close < 0) return;
    at = close;
  }
  if (at < html.length) yield { text: html.slice(at) };
}

/** The index of the `>` that ends a tag, outside of quotes. */
function findTagEnd(html: string, start: number): number {
  let quote = "";
  for (let at = start; at < html.length; at++) {
    const letter = html[at]!;
    if (quote !== "") {
      if (letter === quote) quote = "";
    } else if (letter === '"' || letter === "'") quote = letter;
    else if (letter === ">") return at;
  }
  return html.length;
}

function parseAttributes(inside: string): Attributes {
  const attributes: Record<string, string> = Object.create(null);
  for (const [, name = "", double, single, bare] of inside.matchAll(ATTRIBUTE)) {
    attributes[name.toLowerCase()] ??= decodeEntities(double ?? single ?? bare ?? "");
  }
  return attributes;
}

function normalizeText(text: string): string {
  return decodeEntities(text.replaceAll("&nbsp;", " ")).replace(/\s+/g, " ").trim();
}
