/**
 * What people name by its id or by its name: finds it, and removes it.
 *
 * @module
 */
import type { PageQuery } from "../../../admin/list_page.ts";
import { printText } from "../output.ts";
import { printableText } from "../printable_text.ts";
import { type AdminAction, adminAction } from "./admin_action.ts";
import { type CallOperation, isNotFound } from "./admin_target.ts";
import { type ListOperation, readPages } from "./list_action.ts";

/** Of a search. */
const MAX_SEARCH_CHARACTERS = 200;

/** A member with an id and a name. */
interface Named {
  readonly id: string;
  readonly name?: string | null;
}
type NamedList = ListOperation<PageQuery, Named>;

/**
 * Calls operations on what a person names by its id or by its name.
 * @param work is called again with the id, when there is no such id and one member of the list has the name
 * @throws {Error} when several members have the name
 */
export async function byIdOrName<Result>(
  call: CallOperation,
  list: NamedList,
  text: string,
  work: (id: string) => Promise<Result>,
): Promise<Result> {
  try {
    return await work(text);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    const { data } = await readPages(call, list, { search: text.slice(0, MAX_SEARCH_CHARACTERS) });
    const found = data.filter(({ name }) => name === text);
    if (found.length === 1) return await work(found[0]!.id);
    if (found.length === 0) throw error;
    const ids = found.map(({ id }) => printableText(id)).join(", ");
    throw new Error(`${found.length} have the name "${text}". Use an id: ${ids}`, { cause: error });
  }
}

/** An action that removes one thing. */
export interface RemoveAction {
  readonly operand: string;
  readonly summary: string;
  /** Finds the id of a name. @default the operation takes names itself, or there are none */
  readonly list?: NamedList;
  remove(call: CallOperation, id: string): Promise<unknown>;
}

/** Declares a removal. There is no output of the operation, so `--json` prints the id of what was removed. */
export function removeAction({ operand, summary, list, remove }: RemoveAction): AdminAction {
  return adminAction({
    operands: operand,
    summary,
    options: {},
    async run({ call, operands: [text] }) {
      const work = async (id: string) => {
        await remove(call, id);
        return { id, removed: true };
      };
      return list === undefined ? await work(text!) : await byIdOrName(call, list, text!, work);
    },
    print: ({ id }, { operands: [text] }) =>
      printText(id === text ? `Removed ${id}` : `Removed ${text} (${id})`),
  });
}
