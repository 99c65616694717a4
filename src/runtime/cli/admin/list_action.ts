/**
 * Lists of administration: reads all pages, or as many members as wanted, and prints a table.
 *
 * @module
 */
import type { Page, PageQuery } from "../../../admin/list_page.ts";
import type { AdminOperation } from "../../../admin/operation.ts";
import type { Options, ValuesOf } from "../options.ts";
import { printError, printTable } from "../output.ts";
import { type AdminAction, adminAction, type AdminCall } from "./admin_action.ts";
import type { CallOperation, Loose } from "./admin_target.ts";

/** The greatest page of an operation. */
const MAX_PAGE_MEMBERS = 100;

/** An operation that lists. */
export type ListOperation<Input extends PageQuery, Member> = AdminOperation<Input, Page<Member>>;

const LIST_OPTIONS = {
  search: { value: "TEXT", summary: "only those with this text in a name or an id, in any case" },
  limit: { value: "N", range: [1, 1_000_000], summary: "only the first N", shownDefault: "all" },
} as const;

/** An action that prints a list as a table. */
export interface ListAction<Input extends PageQuery, Member, Declared extends Options> {
  readonly operation: ListOperation<Input, Member>;
  readonly summary: string;
  readonly operands?: string;
  readonly options?: Declared;
  /** The input beside the page and the search. */
  input?(call: AdminCall<ValuesOf<Declared>>): Omit<Input, keyof PageQuery>;
  /** Headings, and the texts below them. An empty one is shown as "-". */
  readonly columns: Readonly<Record<string, (member: Member) => string | null | undefined>>;
}

/** Declares a list. */
export function listAction<
  Input extends PageQuery,
  Member,
  const Declared extends Options = Record<never, never>,
>(
  { operation, summary, operands = "", options, input, columns }: ListAction<Input, Member, Declared>,
): AdminAction {
  return adminAction({
    operands,
    summary,
    options: { ...options, ...LIST_OPTIONS } as Options,
    run(call): Promise<Page<Member>> {
      const { search, limit } = call.values as ValuesOf<typeof LIST_OPTIONS>;
      const own = input?.(call as AdminCall<never>);
      return readPages(call.call, operation, { ...own, search } as Input, limit);
    },
    print({ data, has_more }) {
      printTable(
        Object.keys(columns),
        data.map((member) => Object.values(columns).map((toCell) => toCell(member) || "-")),
      );
      if (has_more) printError(`There are more than ${data.length}`);
    },
  });
}

/** The members of all pages as one page; with `limit` no more than so many. @throws {Error} when a cursor is repeated */
export async function readPages<Input extends Omit<PageQuery, "search">, Member>(
  call: CallOperation,
  operation: AdminOperation<Input, Page<Member>>,
  input: Omit<Loose<NoInfer<Input>>, "limit" | "page">,
  limit: number = Infinity,
): Promise<Page<Member>> {
  const data: Member[] = [];
  const seen = new Set<string>();
  for (let page: string | undefined;;) {
    const size = Math.min(MAX_PAGE_MEMBERS, limit - data.length);
    const query = { ...input, limit: size, page } as Loose<NoInfer<Input>>;
    const { data: members, next_page } = await call(operation, query);
    data.push(...members);
    if (next_page === null || data.length >= limit) return { data, has_more: next_page !== null, next_page };
    if (seen.has(next_page)) throw new Error("Invalid list: the server returned the same page again");
    seen.add(page = next_page);
  }
}
