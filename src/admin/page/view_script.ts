/**
 * The part of the page's script that shows lists and entries, and acts on them. What there is to see and to do comes from
 * the OpenAPI description of the API (`description_script.ts`).
 *
 * @module
 */

/** JavaScript for browsers. */
export const VIEW_SCRIPT: string = `
const main = document.querySelector("main");
const nav = document.querySelector("nav");
const status = el("p", { class: "status", role: "status" });
document.body.append(status);

/** Asks for the input, or for confirmation, and runs the operation. Resolves to whether it was done. */
async function act(operation, values, { present, title = labelOf(operation) } = {}) {
  const isDanger = operation.method === "DELETE";
  const result = await showForm({
    title,
    text: operation.summary + (isDanger ? ". This cannot be undone." : "."),
    properties: operation.properties,
    required: operation.required,
    present,
    action: title,
    isDanger,
    send: (input) => call(operation.method, fillPath(operation.path, values), input),
  });
  if (!result) return false;
  const { answer } = result;
  const shownOnce = ["secret", "password", "link"].filter((name) => typeof answer?.[name] === "string");
  if (shownOnce.length > 0) {
    await showSecret(title, Object.fromEntries(shownOnce.map((name) => [name, answer[name]])));
  } else if (answer && operation.method === "POST" && /\\/(test|verify)$/.test(operation.path)) {
    await showDialog(title, (done) => [
      factsOf(answer),
      el("div", { class: "row" }, el("button", { type: "button", click: () => done() }, "Done")),
    ]);
  }
  say(title + ": done");
  return true;
}

function say(text) {
  status.textContent = text;
  setTimeout(() => status.textContent === text && (status.textContent = ""), 4000);
}

function actionButton(operation, values, after, options) {
  return el("button", {
    type: "button",
    class: (operation.method === "DELETE" ? "danger" : "plain") + " small",
    title: operation.summary,
    click: async (event) => {
      event.stopPropagation();
      if (await act(operation, values, options)) after();
    },
  }, options?.title ?? labelOf(operation));
}

/** The columns of a list: chosen ones that its members can have, or the first ones. */
function columnsOf({ path, member }, rows) {
  const names = Object.keys(member?.properties ?? rows[0] ?? {});
  const chosen = COLUMNS[path]?.filter((name) => names.includes(name)) ?? [];
  return chosen.length > 0 ? chosen : names.slice(0, MAX_COLUMNS);
}

/** The identifier of a member in paths. */
const keyOf = (row) => row.id ?? row.name ?? row.number;

/** A table of a list with a button for its next page. */
function showTable(list, values, query, refresh) {
  const itemPath = operations.map((each) => each.path).find((path) => isItem(path, list.path));
  const show = itemPath && find("GET", itemPath);
  const removal = itemPath && find("DELETE", itemPath);
  const name = itemPath && segmentsOf(itemPath).at(-1).slice(1);
  const box = el("div", {});
  const body = el("tbody", {});
  let columns;
  const load = async (page) => {
    const { data, next_page } = await call("GET", fillPath(list.path, values), { ...query, page });
    if (!columns) {
      columns = columnsOf(list, data);
      if (data.length === 0 && next_page === null) return box.append(el("p", { class: "soft" }, "Nothing here."));
      const heads = columns.map((each) => el("th", { scope: "col" }, toLabel(each)));
      if (removal && !show) heads.push(el("th", { scope: "col" }, el("span", { class: "hidden" }, "Actions")));
      box.append(el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": nounOf(list.path) },
        el("table", { class: "list" }, el("thead", {}, el("tr", {}, ...heads)), body)));
    }
    for (const row of data) {
      const own = { ...values, [name]: keyOf(row) };
      const target = show && "#" + fillPath(itemPath, own);
      const cells = columns.map((each, i) => el("td", {}, i === 0 && target
        ? el("a", { href: target }, toNode(row[each] ?? keyOf(row)))
        : toNode(row[each])));
      if (removal && !show) cells.push(el("td", { class: "act" }, actionButton(removal, own, refresh)));
      body.append(el("tr", { class: target && "open", click: target && (() => location.hash = target) }, ...cells));
    }
    if (next_page !== null) {
      const more = el("button", {
        type: "button",
        class: "plain",
        click: async () => {
          more.disabled = true;
          try {
            await load(next_page);
            line.remove();
          } catch (error) {
            // Without it the list would look complete.
            line.replaceChildren(more, el("span", { class: "problem", role: "alert" }, problemOf(error)));
            more.disabled = false;
          }
        },
      }, "More");
      const line = el("p", { class: "more" }, more);
      box.append(line);
    }
  };
  return { box, loaded: load() };
}

async function showList(list, parameters) {
  const query = Object.fromEntries(parameters);
  const add = find("POST", list.path);
  const searched = Object.keys(list.properties).filter((name) => !["limit", "page"].includes(name));
  const search = el("form", {
    class: "find",
    role: "search",
    submit: (event) => {
      event.preventDefault();
      const given = [...new FormData(search)].filter(([, value]) => value !== "");
      location.hash = "#" + list.path + (given.length > 0 ? "?" + new URLSearchParams(given) : "");
    },
  }, ...searched.map((name) =>
    el("input", { name, value: query[name], placeholder: toLabel(name), "aria-label": toLabel(name), title: list.properties[name].description })
  ), el("button", { class: "plain small" }, "Search"));
  const others = operations.filter((each) => each.method === "POST" && segmentsOf(each.path).length === 2 && each.path.startsWith(list.path + "/"));
  const { box, loaded } = showTable(list, {}, query, route);
  const title = singular(nounOf(list.path)).toLowerCase();
  const head = el("div", { class: "head" }, el("h1", {}, nounOf(list.path)), searched.length > 0 && search,
    ...others.map((each) => actionButton(each, {}, route)),
    add && actionButton(add, {}, route, { title: "Add " + title }));
  await loaded;
  return [head, box];
}

async function showEntry(path, item, values) {
  const entry = await call("GET", path);
  const list = item.path.slice(0, item.path.lastIndexOf("/"));
  const below = operations.filter((each) => each.path === item.path || each.path.startsWith(item.path + "/"));
  const actions = below.filter((each) =>
    each.method !== "GET" && !segmentsOf(each.path.slice(item.path.length)).some((step) => step.startsWith(":")));
  const lists = below.filter((each) => each.method === "GET" && each.isList);
  const documents = below.filter((each) => each.method === "GET" && !each.isList && each.path !== item.path);
  const title = entry.username ?? entry.name ?? keyOf(entry);
  const parts = [
    el("p", { class: "back" }, el("a", { href: "#" + fillPath(list, values) }, nounOf(list))),
    el("div", { class: "head" }, el("h1", {}, title)),
    el("div", { class: "acts" },
      ...actions.map((each) => actionButton(each, values, () => {
        if (each.method === "DELETE" && each.path === item.path) location.hash = "#" + list;
        else route();
      }, each.method === "PATCH" ? { present: entry } : undefined)),
      ...documents.map((each) => el("button", {
        type: "button",
        class: "plain small",
        title: each.summary,
        click: async () => {
          const text = await call("GET", fillPath(each.path, values))
            .then((value) => JSON.stringify(value, null, 2), problemOf);
          await showDialog(labelOf(each), (done) => [
            el("pre", { tabindex: "0" }, text),
            el("div", { class: "row" }, el("button", { type: "button", click: () => done() }, "Close")),
          ]);
        },
      }, labelOf(each)))),
    factsOf(entry),
  ];
  for (const each of lists) {
    const { box, loaded } = showTable(each, values, {}, route);
    await loaded;
    parts.push(el("h2", {}, nounOf(each.path)), box);
  }
  return parts;
}

async function showDocument(operation) {
  const value = await call("GET", operation.path);
  return [el("div", { class: "head" }, el("h1", {}, nounOf(operation.path))), factsOf(value)];
}

/** A part of the address, which anyone can write. */
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

let shown = 0;

/** Shows what the fragment of the address names. */
async function route() {
  const mine = ++shown;
  const [path, query] = location.hash.slice(1).split("?");
  const wanted = path || "/users";
  const match = operations.filter((each) => each.method === "GET").map((each) => {
    const names = segmentsOf(each.path).filter((step) => step.startsWith(":")).map((step) => step.slice(1));
    const found = new RegExp("^" + each.path.replace(/:\\w+/g, "([^/]+)") + "$").exec(wanted);
    return found && { each, values: Object.fromEntries(names.map((name, i) => [name, decode(found[i + 1])])) };
  }).find(Boolean);
  for (const link of nav.children) {
    const isHere = wanted === link.hash.slice(1) || wanted.startsWith(link.hash.slice(1) + "/");
    if (isHere) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  let parts;
  try {
    if (!match) parts = [el("h1", {}, "Not found"), el("p", {}, "Choose a page on the left.")];
    else if (match.each.isList) parts = await showList(match.each, new URLSearchParams(query));
    else if (Object.keys(match.values).length > 0) parts = await showEntry(wanted, match.each, match.values);
    else parts = await showDocument(match.each);
  } catch (error) {
    parts = [el("h1", {}, nounOf(wanted)), el("p", { class: "problem", role: "alert" }, problemOf(error))];
  }
  if (mine !== shown) return;
  main.replaceChildren(...parts);
  document.title = (main.querySelector("h1")?.textContent ?? "Administration") + " · Administration";
}

function showStart(problem) {
  main.replaceChildren(
    el("h1", {}, "Administration"),
    problem ? el("p", { class: "problem", role: "alert" }, problem) : el("p", { class: "lead" }, "Sign in with the account of an administrator."),
    el("p", {}, el("button", { type: "button", click: () => signIn() }, "Sign in"), " ",
      problem && el("button", { type: "button", class: "plain", click: () => signIn({ prompt: "login" }) }, "Sign in with another account")),
  );
}

async function start() {
  const problem = await completeSignIn().catch(() => "The server could not be reached.");
  if (token === undefined) {
    if (problem === undefined && sessionStorage.getItem(WAS_SIGNED_IN)) return await signIn();
    return showStart(problem);
  }
  operations = readDescription(await (await fetch(settings.place + "/admin/openapi.json")).json());
  const tops = operations.filter((each) => each.method === "GET" && segmentsOf(each.path).length === 1);
  nav.append(...tops.map((each) => el("a", { href: "#" + each.path }, nounOf(each.path))));
  document.querySelector("footer").append(el("button", {
    type: "button",
    class: "link",
    click: () => {
      sessionStorage.removeItem(WAS_SIGNED_IN);
      token = undefined;
      location.assign(settings.place + "/account");
    },
  }, "Your account"));
  addEventListener("hashchange", async () => {
    await route();
    main.focus();
  });
  await route();
}

start().catch((error) => showStart(problemOf(error)));
`;
