/**
 * Signs in and allows on a server's own pages as a person does: opens a page, fills in the fields that are named, presses
 * the button that is named, follows where it is sent, until the browser leaves for the client (`FORMAT.md` section 9).
 *
 * @module
 */
import { Unexpected } from "../outcome.ts";
import { type Button, type Form, type Page, readPage } from "./page.ts";
import type { PageWalk } from "./target_description.ts";
import { isMembers, type Members, type Step } from "../vector/vector_file.ts";
import type { World } from "../world.ts";

/** A page that leads on so often leads nowhere. */
const MAX_PAGES = 16;
/** Of forms, fields and buttons in a message. */
const MAX_NAMED = 12;

/** @throws {Unexpected} that says which page it stopped at, and what stands there */
export async function walk(
  asked: PageWalk,
  world: World,
  runStep: (step: Step, world: World) => Promise<void>,
): Promise<void> {
  const { page, query } = asked;
  let url = new URL(page, world.target.base);
  const get = async (title: string, request: Members) => {
    await runStep({ title, as: "browser", request }, world);
    const broken = world.last["broken"];
    if (broken !== undefined) throw new Unexpected(`the exchange broke (${broken}): ${world.last["why"]}`);
  };
  await get("open the page", { url: url.href, ...(query && { query }) });
  // A form without an action goes to the whole address of its page.
  url = new URL(String(world.last["url"] ?? url.href));
  const filled = new Map<string, number>();
  let isFormLast = false;
  let what = "redirects";
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const to = leadsTo(world, url);
    if (to) {
      if (isOutside(to, query, world)) return;
      await get("follow the redirect", { url: to.href });
      url = to;
      isFormLast = false;
      continue;
    }
    what = "pages";
    const shown = readPage(String(world.last["body"] ?? ""));
    if (shown.refresh !== undefined) {
      url = new URL(shown.refresh, url);
      await get("follow the page", { url: url.href });
      continue;
    }
    const chosen = choose(shown, asked);
    if (!chosen) {
      return stop(
        shown,
        url,
        { hasSent: filled.size > 0, wasTaken: filled.size > 0 && !isFormLast },
        asked,
        world,
      );
    }
    const { form, button } = chosen;
    const times = (filled.get(keyOf(form)) ?? 0) + 1;
    filled.set(keyOf(form), times);
    if (times > 2) {
      throw new Unexpected(
        `${url.pathname} asks again for what was sent already. It says: ${cut(shown.text)}`,
      );
    }
    const described = submit(form, button, asked, url);
    await get(button ? `press "${labelOf(button)}"` : "send the form", described);
    url = new URL(String(described["url"]));
    isFormLast = true;
  }
  throw new Unexpected(`the ${what} led nowhere: ${MAX_PAGES} of them, the last at ${url.pathname}`);
}

function leadsTo({ last }: World, from: URL): URL | undefined {
  const status = Number(last["status"]);
  const location = (last["headers"] as Members | undefined)?.["location"];
  if (status < 300 || status > 399 || typeof location !== "string") return undefined;
  return URL.parse(location, from) ?? undefined;
}

/** The browser goes to the client, or elsewhere where the kit does not follow. */
function isOutside(to: URL, query: Members | undefined, { target }: World): boolean {
  const back = typeof query?.["redirect_uri"] === "string" ? URL.parse(query["redirect_uri"]) : null;
  return !target.origins.has(to.origin) || back?.origin === to.origin && back.pathname === to.pathname;
}

interface Chosen {
  readonly form: Form;
  readonly button: Button | undefined;
}

/** The form that has a field or button which is asked for; the only form where none is. */
function choose({ forms }: Page, { fields = {}, press }: PageWalk): Chosen | undefined {
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

function submit(form: Form, button: Button | undefined, { fields = {} }: PageWalk, from: URL): Members {
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
 * The last page has nothing to fill in. For who signs in that is the end: where the form was taken, the page that it led to
 * may be missing; where it was refused, its answer says so.
 */
function stop(
  shown: Page,
  url: URL,
  { hasSent, wasTaken }: { readonly hasSent: boolean; readonly wasTaken: boolean },
  asked: PageWalk,
  { last }: World,
): void {
  if (asked.query !== undefined || wasTaken) return;
  const status = Number(last["status"]);
  if (status >= 400) throw new Unexpected(`${url.pathname} answered ${status}. It says: ${cut(shown.text)}`);
  if (!hasSent) {
    throw new Unexpected(`${url.pathname} has nothing of "fields" or "press": ${inventory(shown)}`);
  }
}

/** What a page offers, for who has to write "fields" and "press". */
export function inventory({ forms, text }: Page): string {
  if (forms.length === 0) return `there is no form on the page, which says: ${cut(text)}`;
  return forms.slice(0, MAX_NAMED).map(({ names, buttons }) =>
    `there is a form with the fields ${quoted([...names])} and the buttons ${quoted(buttons.map(labelOf))}`
  ).join("; ");
}

function keyOf({ action, names, buttons }: Form): string {
  return JSON.stringify([action, [...names], buttons.map(labelOf)]);
}

function labelOf({ text, value, name }: Button): string {
  return text || value || name;
}

function quoted(names: readonly string[]): string {
  if (names.length === 0) return "(none)";
  const shown = names.slice(0, MAX_NAMED).map((name) => `"${name.slice(0, 60)}"`).join(", ");
  return names.length > MAX_NAMED ? `${shown} …` : shown;
}

function cut(text: string): string {
  return text === "" ? "nothing" : text.length > 160 ? `"${text.slice(0, 160)}…"` : `"${text}"`;
}

/** Says why an authorization that came to no end did not: which page it stands at. */
export function whereItStands({ last }: World): string {
  const status = last["status"];
  if (status === undefined) return "nobody gave one";
  const body = String(last["body"] ?? "");
  return `the last answer is ${status}, ${inventory(readPage(body))}`;
}

/** Whether a procedure is pages. */
export function isPageWalk(procedure: unknown): procedure is PageWalk {
  return isMembers(procedure) && typeof procedure["page"] === "string" && procedure["exec"] === undefined;
}
