/**
 * Faults in the tasks extension of 2026-07-28: input, access, subscriptions.
 *
 * @module
 */
import { changeRequests, onPath, withRequestHeaders } from "../http_faults.ts";
import { changeEvents, changeServerMessages, toEventText } from "../jsonrpc/event_faults.ts";
import { changeEachMessage, isObject, type Members, readJson } from "../jsonrpc/message_faults.ts";
import type { Mutant, Wrap } from "../mutant.ts";
import { fetchToken, MCP, retryWithToken } from "./mcp_access.ts";
import { answerPosts } from "./mcp_messages.ts";
import {
  answerWith,
  changeNotifications,
  changeTasks,
  findBy,
  names,
  paramsOf,
  refuse,
} from "./task_faults.ts";

const INPUT = names(
  "input-required",
  "input-repeated",
  "input-for-unknown-keys",
  "input-for-inherited-keys",
);

const BOTH = {
  who: { action: "accept", content: { name: "Ada" } },
  sure: { action: "accept", content: { confirm: true } },
};

const isAboutTasks = (request: Request): boolean =>
  /^(tasks\/|subscriptions\/listen)/.test(request.headers.get("mcp-method") ?? "");

/** Answers refused requests of one method as if the task were found. */
const findAny = (method: string): Wrap =>
  onPath(MCP, (next) => async (request) => {
    const sent = readJson(await request.clone().text());
    const answer = await next(request);
    if (!isObject(sent) || sent["method"] !== method) return answer;
    const { error } = Object(readJson(await answer.clone().text()));
    if (error?.code !== -32602 && error?.code !== -32020) return answer;
    const task = method === "tasks/get" ? { status: "working" } : {};
    return Response.json({ jsonrpc: "2.0", id: sent["id"], result: { resultType: "complete", ...task } });
  });

/** Changes `inputResponses` of updates, by the task. */
const changeTaskResponses = (change: (responses: Members, task: unknown) => Members): Wrap =>
  changeEachMessage(MCP, (call) => {
    const params = paramsOf(call);
    const { taskId, inputResponses: responses } = params;
    return isObject(responses)
      ? { ...call, params: { ...params, inputResponses: change(responses, taskId) } }
      : call;
  });

export const MCP_TASK_ACCESS: readonly Mutant[] = [
  {
    name: "mcp/tasks-input-incomplete",
    fault: "Lists only one of the outstanding requests",
    wrap: (next) =>
      changeNotifications(({ inputRequests }) => delete Object(inputRequests).sure)(
        changeTasks(/^tasks\/get$/, ({ inputRequests }) => delete Object(inputRequests)["sure"])(next),
      ),
    killedBy: [...INPUT, ...names("input-in-parts", "input-twice")],
    mayFail: { "It waits for both requests": names("listen-completed") },
  },
  {
    name: "mcp/tasks-input-listed-once",
    fault: "Lists a request only once",
    wrap: (next) => {
      const listed = new Set<unknown>();
      return changeTasks(/^tasks\/get$/, (task) => {
        if (!isObject(task["inputRequests"])) return;
        if (listed.has(task["taskId"])) task["inputRequests"] = {};
        listed.add(task["taskId"]);
      })(next);
    },
    killedBy: names("input-repeated"),
  },
  {
    name: "mcp/tasks-input-in-parts-refused",
    fault: "Refuses a part of the responses",
    wrap: answerPosts((sent) =>
      isObject(sent) && sent["method"] === "tasks/update" &&
        Object.keys(Object(paramsOf(sent)["inputResponses"])).join() === "who"
        ? refuse(sent, -32602)
        : undefined
    ),
    killedBy: names("input-in-parts"),
    mayFail: { "It sends the same part": names("input-twice") },
    preventsSetup: "It sends the same part",
  },
  {
    name: "mcp/tasks-input-for-unknown-refused",
    fault: "Refuses responses to requests that were never made",
    wrap: answerPosts((sent) => {
      const keys = Object.keys(Object(paramsOf(sent)["inputResponses"]));
      return isObject(sent) && keys.some((key) => !(Object.hasOwn(BOTH, key)))
        ? refuse(sent, -32602)
        : undefined;
    }),
    killedBy: names("input-for-unknown-keys", "input-for-inherited-keys", "input-for-a-working-task"),
  },
  {
    name: "mcp/tasks-input-by-any-key",
    fault: "Takes a response to any request for one to its own",
    wrap: changeTaskResponses((responses) =>
      Object.keys(responses).some((key) => !Object.hasOwn(BOTH, key)) ? BOTH : responses
    ),
    killedBy: names("input-for-unknown-keys", "input-for-inherited-keys"),
  },
  {
    name: "mcp/tasks-input-inherited",
    fault: "Finds inherited properties among the outstanding requests",
    wrap: changeTaskResponses((responses) => Object.hasOwn(responses, "constructor") ? BOTH : responses),
    killedBy: names("input-for-inherited-keys"),
  },
  {
    name: "mcp/tasks-input-twice",
    fault: "Takes the second response to a request for one to the next request",
    wrap: (next) => {
      const seen = new Set<unknown>();
      const wrap = changeTaskResponses((responses, task) => {
        if (!("who" in responses) || "sure" in responses) return responses;
        if (seen.has(task)) return { sure: BOTH.sure };
        seen.add(task);
        return responses;
      });
      return wrap(next);
    },
    killedBy: names("input-twice"),
  },
  {
    name: "mcp/tasks-cancelled-go-on",
    fault: "Completes a cancelled task that gets its input",
    wrap: (next) => {
      const answered = new Set<unknown>();
      const changed = changeTasks(/^tasks\/get$/, (task) => {
        if (task["status"] !== "cancelled" || !answered.has(task["taskId"])) return;
        task["status"] = "completed";
        task["result"] = { content: [] };
      })(next);
      return answerPosts((sent) => {
        if (isObject(sent) && sent["method"] === "tasks/update") answered.add(paramsOf(sent)["taskId"]);
        return undefined;
      })(changed);
    },
    killedBy: names("input-after-cancellation"),
  },
  {
    name: "mcp/tasks-input-lost",
    fault: "Loses the responses of the client",
    wrap: changeTaskResponses(() => ({})),
    killedBy: names("input-given", "input-in-parts", "input-twice", "listen-completed"),
  },
  {
    name: "mcp/tasks-unknown-found",
    fault: "Finds every task",
    wrap: (next) =>
      ["get", "update", "cancel"].reduce((inner, method) => findAny(`tasks/${method}`)(inner), next),
    killedBy: names(
      "unknown-get",
      "unknown-update",
      "unknown-cancel",
      "get-of-another-caller",
      "update-of-another-caller",
      "cancel-of-another-caller",
      "get-of-a-prefix",
      "get-in-another-case",
      "get-of-inherited-name",
      "get-without-id",
      "name-field-of-another",
    ),
  },
  {
    name: "mcp/tasks-id-by-prefix",
    fault: "Finds a task by the beginning of its id",
    wrap: findBy((id, asked) => id.startsWith(asked)),
    killedBy: names("get-of-a-prefix"),
  },
  {
    name: "mcp/tasks-id-in-any-case",
    fault: "Finds a task by its id in another case",
    wrap: findBy((id, asked) => id.toLowerCase() === asked.toLowerCase()),
    killedBy: names("get-in-another-case"),
  },
  {
    name: "mcp/tasks-of-everyone",
    fault: "Serves the tasks of all callers",
    wrap: (next) => {
      const own = new Map<string, string>();
      return changeRequests(MCP, async (request) => {
        const token = request.headers.get("authorization");
        if (token === null || !isAboutTasks(request)) return request;
        if (!own.has(token)) own.set(token, await fetchToken(next, request.url));
        return withRequestHeaders(request, { authorization: own.get(token)! });
      })(next);
    },
    killedBy: names(
      "get-of-another-caller",
      "update-of-another-caller",
      "cancel-of-another-caller",
      "listen-to-the-task-of-another",
    ),
  },
  {
    name: "mcp/tasks-without-token",
    fault: "Serves tasks without a token",
    wrap: retryWithToken(isAboutTasks),
    killedBy: names("get-without-token", "update-without-token", "cancel-without-token"),
  },
  {
    name: "mcp/tasks-name-unchecked",
    fault: "Does not compare Mcp-Name with the id of the task",
    wrap: changeRequests(MCP, async (request) => {
      if (!/^tasks\//.test(request.headers.get("mcp-method") ?? "")) return request;
      const { taskId } = paramsOf(readJson(await request.clone().text()));
      return typeof taskId === "string" ? withRequestHeaders(request, { "mcp-name": taskId }) : request;
    }),
    killedBy: names("name-field-of-another"),
  },
  {
    name: "mcp/tasks-methods-of-before",
    fault: "Has tasks/list and tasks/result too",
    wrap: (next) =>
      answerWith("tasks/list", () => ({ tasks: [] }))(
        answerWith("tasks/result", () => ({ content: [] }))(next),
      ),
    killedBy: names("no-list", "no-result"),
    mayFail: { "They call methods of tasks": ["mcp/core_tasks/no-list", "mcp/core_tasks/no-result"] },
  },
  {
    name: "mcp/tasks-listen-acknowledges-all",
    fault: "Acknowledges a subscription to every task",
    wrap: (next) => {
      const asked: unknown[] = [];
      const changed = changeServerMessages([MCP], ({ method, params }) => {
        const filter = isObject(params) ? params["notifications"] : undefined;
        if (method === "notifications/subscriptions/acknowledged" && isObject(filter)) {
          filter["taskIds"] = asked;
        }
      })(next);
      return answerPosts((sent) => {
        const { taskIds } = Object(paramsOf(sent)["notifications"]);
        if (Array.isArray(taskIds)) asked.push(...taskIds);
        return undefined;
      })(changed);
    },
    killedBy: names("listen-acknowledged", "listen-to-the-task-of-another"),
  },
  {
    name: "mcp/tasks-notified-in-part",
    fault: "Sends only the id and the status of a task",
    wrap: changeNotifications((task) => {
      for (const name of ["createdAt", "lastUpdatedAt", "inputRequests", "result"]) delete task[name];
    }),
    killedBy: names("listen-cancelled", "listen-completed"),
  },
  {
    name: "mcp/tasks-progress-on-subscription",
    fault: "Sends progress on the stream of a subscription",
    wrap: changeEvents([MCP], (event) =>
      event.json?.["method"] === "notifications/tasks"
        ? [
          `data: ${
            JSON.stringify({
              jsonrpc: "2.0",
              method: "notifications/progress",
              params: { progressToken: 1, progress: 1 },
            })
          }`,
          toEventText(event),
        ]
        : toEventText(event)),
    killedBy: names("listen-cancelled"),
  },
  {
    name: "mcp/core-tasks-unasked",
    fault: "Creates tasks of 2025-11-25 without declaring them",
    wrap: answerWith("tools/call", ({ task }) => isObject(task) ? { task: { taskId: "1" } } : undefined),
    killedBy: ["ignored", "ignored-empty", "ignored-unlimited"].map((id) => `mcp/core_tasks/${id}`),
  },
  {
    name: "mcp/core-tasks-methods",
    fault: "Has the methods for tasks of 2025-11-25 without declaring them",
    wrap: (next) =>
      ["get", "result", "cancel", "list"].reduce(
        (inner, method) => answerWith(`tasks/${method}`, ({ _meta: meta }) => meta ? undefined : {})(inner),
        next,
      ),
    killedBy: ["no-get", "no-result", "no-cancel", "no-list"].map((id) => `mcp/core_tasks/${id}`),
  },
];
