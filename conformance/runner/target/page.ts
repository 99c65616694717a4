/**
 * Forms of an HTML page, as a browser without scripts sees them: where they go, what they hold, which buttons they have.
 * Enough to sign in and to allow a client on the pages of a server under test. Time and space are linear in the page,
 * whatever stands in it.
 *
 * @module
 */
import { decodeEntities } from "../vector/view.ts";

export interface Button {
  readonly name: string;
  readonly value: string;
  /** What stands on it. */
  readonly text: string;
  /** Where it sends the form, instead of the form's own address. */
  readonly action?: string;
}

export interface Form {
  readonly action: string | undefined;
  readonly method: "GET" | "POST";
  /** What is sent where nobody fills anything in. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  /** Names that may be sent, those of boxes that are not checked among them. */
  readonly names: ReadonlySet<string>;
  readonly buttons: readonly Button[];
}

export interface Page {
  readonly forms: readonly Form[];
  /** Where `<meta http-equiv="refresh">` leads. */
  readonly refresh?: string;
  /** What a reader sees, in one line. */
  readonly text: string;
}

type Attributes = Readonly<Record<string, string>>;

type Piece =
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
/** What a browser does not show. */
const HIDDEN: ReadonlySet<string> = new Set(["script", "style", "template", "noscript", "title"]);
/** Pages are short: what follows is not read. */
const MAX_PAGE_CHARACTERS = 1 << 20;
const MAX_FORMS = 100;
const MAX_FORM_PARTS = 500;

/** @param html of a page */
export function readPage(html: string): Page {
  const forms: OpenForm[] = [];
  const byId = new Map<string, OpenForm>();
  const shown: string[] = [];
  let open: OpenForm | undefined;
  let refresh: string | undefined;
  /** The element whose text is collected. */
  let inner: { readonly tag: string; text: string; end(text: string): void } | undefined;
  let select: { readonly name: string; value?: string } | undefined;
  for (const piece of pieces(html.slice(0, MAX_PAGE_CHARACTERS))) {
    if ("text" in piece) {
      shown.push(piece.text);
      if (inner) inner.text += piece.text;
      continue;
    }
    const { tag, isEnd, attributes } = piece;
    shown.push(" ");
    if (inner && (inner.tag === tag || isEnd && (tag === "form" || tag === "select"))) {
      inner.end(tidy(inner.text));
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
      open = openForm(attributes);
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
  return { forms, ...(refresh !== undefined && { refresh }), text: tidy(shown.join("")) };
}

function openForm({ action, method = "" }: Attributes): OpenForm {
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

/** Tags and the texts between them, comments and what is not shown left out. */
function* pieces(html: string): Generator<Piece> {
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
    const end = endOfTag(html, start);
    const tag = name[2]!.toLowerCase();
    const isEnd = name[1] === "/";
    at = end + 1;
    yield { tag, isEnd, attributes: isEnd ? {} : readAttributes(html.slice(start + name[0].length, end)) };
    if (isEnd || !HIDDEN.has(tag)) continue;
    const close = lower.indexOf(`</${tag}`, at);
    if (close < 0) return;
    at = close;
  }
  if (at < html.length) yield { text: html.slice(at) };
}

/** Position of a tag's `>`, those in quotes passed over. */
function endOfTag(html: string, start: number): number {
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

function readAttributes(inside: string): Attributes {
  const attributes: Record<string, string> = Object.create(null);
  for (const [, name = "", double, single, bare] of inside.matchAll(ATTRIBUTE)) {
    attributes[name.toLowerCase()] ??= decodeEntities(double ?? single ?? bare ?? "");
  }
  return attributes;
}

function tidy(text: string): string {
  return decodeEntities(text.replaceAll("&nbsp;", " ")).replace(/\s+/g, " ").trim();
}
