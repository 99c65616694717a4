/**
 * Faults in the tasks extension of 2026-07-28: negotiation, tasks, their ends.
 *
 * @module
 */
import { changeErrors, isObject } from "../jsonrpc/message_faults.ts";
import type { Mutant } from "../mutant.ts";
import { MCP } from "./mcp_access.ts";
import { answerPosts } from "./mcp_messages.ts";
import {
  ALL,
  changeCapabilities,
  changeCreated,
  changeNotifications,
  changeResults,
  changeTasks,
  EXTENSION,
  names,
  paramsOf,
  refuse,
  withTasks,
} from "./task_faults.ts";

const WITHOUT_EXTENSION = names(
  "required",
  "get-without-extension",
  "update-without-extension",
  "cancel-without-extension",
  "listen-without-extension",
);
const RESULTS = names(
  "completed",
  "cancel-when-completed",
  "input-given",
);

export const MCP_TASKS: readonly Mutant[] = [
  {
    name: "mcp/tasks-undeclared",
    fault: "Does not declare the extension",
    wrap: changeTasks(/^server\/discover$/, ({ capabilities }) => {
      if (isObject(capabilities)) delete Object(capabilities["extensions"])[EXTENSION];
    }),
    killedBy: names("declared"),
  },
  {
    name: "mcp/tasks-for-everyone",
    fault: "Creates tasks for clients that do not declare the extension",
    wrap: changeCapabilities(withTasks),
    killedBy: [
      ...WITHOUT_EXTENSION,
      ...names("not-without-extension", "not-by-an-earlier-declaration", "not-by-another-extension"),
    ],
    mayFail: { "Their wait becomes a task and ends at once": ALL },
  },
  {
    name: "mcp/tasks-extension-remembered",
    fault: "Remembers that a client declared the extension",
    wrap: (next) => {
      let isKnown = false;
      return changeCapabilities((capabilities) => {
        isKnown ||= EXTENSION in Object(capabilities["extensions"]);
        return isKnown ? withTasks(capabilities) : capabilities;
      })(next);
    },
    killedBy: names("not-by-an-earlier-declaration", "get-without-extension"),
    mayFail: { "Another vector declared it before": ALL },
  },
  {
    name: "mcp/tasks-extension-by-prefix",
    fault: "Takes an extension whose name begins like it for the extension",
    wrap: changeCapabilities((capabilities) =>
      Object.keys(Object(capabilities["extensions"])).some((name) => name.startsWith(EXTENSION))
        ? withTasks(capabilities)
        : capabilities
    ),
    killedBy: names("not-by-another-extension"),
  },
  {
    name: "mcp/tasks-extension-unnamed",
    fault: "Does not name the missing extension",
    wrap: changeErrors(MCP, (error) => {
      if (error["code"] === -32021) delete error["data"];
    }),
    killedBy: WITHOUT_EXTENSION,
  },
  {
    name: "mcp/tasks-nested",
    fault: "Returns tasks in the form of 2025-11-25",
    wrap: changeCreated((task) => {
      task["task"] = { ...task };
    }),
    killedBy: names("created"),
  },
  {
    name: "mcp/tasks-created-as-complete",
    fault: "Returns a task with the resultType complete",
    wrap: changeCreated((task) => {
      task["resultType"] = "complete";
    }),
    killedBy: names("created"),
    mayFail: { "They create a task": ALL },
    preventsSetup: "They create a task",
  },
  {
    name: "mcp/tasks-times-as-numbers",
    fault: "Returns times as numbers, and durations as text",
    wrap: changeTasks(/./, (task) => {
      if (typeof task["createdAt"] !== "string") return;
      task["createdAt"] = Date.parse(task["createdAt"]);
      task["ttlMs"] = String(task["ttlMs"]);
    }),
    killedBy: names("created", "found-at-once"),
  },
  {
    name: "mcp/tasks-created-late",
    fault: "Does not find a new task at first",
    wrap: (next) => {
      const seen = new Set<unknown>();
      return answerPosts((sent) => {
        const { taskId } = paramsOf(sent);
        if (!isObject(sent) || sent["method"] !== "tasks/get" || seen.has(taskId)) return undefined;
        seen.add(taskId);
        return refuse(sent, -32602);
      })(next);
    },
    killedBy: names("found-at-once"),
    mayFail: {
      "It creates a task": ["mcp/core_tasks/no-get"],
      "They read a task": ALL,
    },
    preventsSetup: "They read a task",
  },
  {
    name: "mcp/tasks-short-ids",
    fault: "Numbers tasks",
    wrap: (next) => {
      let last = 0;
      return changeCreated((task) => {
        task["taskId"] = String(++last);
      })(next);
    },
    killedBy: names("ids-differ"),
    mayFail: { "They create a task": ALL },
    preventsSetup: "They create a task",
  },
  {
    name: "mcp/tasks-read-as-task",
    fault: "Returns the resultType task for tasks/get",
    wrap: changeTasks(/^tasks\/get$/, (result) => {
      result["resultType"] = "task";
    }),
    killedBy: names("found-at-once", "completed", "failed", "input-required"),
  },
  {
    name: "mcp/tasks-result-omitted",
    fault: "Leaves the result out of completed tasks",
    wrap: (next) =>
      changeNotifications((task) => delete task["result"])(
        changeTasks(/^tasks\/get$/, (task) => delete task["result"])(next),
      ),
    killedBy: [...RESULTS, ...names("listen-completed", "tool-error-is-completed")],
  },
  {
    name: "mcp/tasks-tool-error-as-failed",
    fault: "Reports a tool error as failed",
    wrap: changeTasks(/^tasks\/get$/, (task) => {
      if (isObject(task["result"]) && task["result"]["isError"]) task["status"] = "failed";
    }),
    killedBy: names("tool-error-is-completed"),
  },
  {
    name: "mcp/tasks-failed-without-error",
    fault: "Leaves the error and its text out of failed tasks",
    wrap: changeTasks(/^tasks\/get$/, (task) => {
      if (task["status"] !== "failed") return;
      delete task["error"];
      delete task["statusMessage"];
    }),
    killedBy: names("failed", "failed-says-why"),
  },
  {
    name: "mcp/tasks-acknowledged-with-task",
    fault: "Returns the task for tasks/cancel and tasks/update",
    wrap: changeTasks(/^tasks\/(cancel|update)$/, (result) => {
      result["taskId"] = "a task";
    }),
    killedBy: names(
      "cancelled",
      "cancelled-by-eight",
      "cancel-when-completed",
      "input-given",
      "input-in-parts",
      "input-for-unknown-keys",
      "input-for-inherited-keys",
      "input-for-a-working-task",
      "input-twice",
    ),
  },
  {
    name: "mcp/tasks-cancelled-with-result",
    fault: "Returns a result for cancelled tasks",
    wrap: changeTasks(/^tasks\/get$/, (task) => {
      if (task["status"] === "cancelled") task["result"] = { content: [] };
    }),
    killedBy: names("cancelled-status", "input-after-cancellation"),
  },
  {
    name: "mcp/tasks-cancelled-once",
    fault: "Refuses the second cancellation of a task",
    wrap: (next) => {
      const cancelled = new Set<unknown>();
      return answerPosts((sent) => {
        if (!isObject(sent) || sent["method"] !== "tasks/cancel") return undefined;
        const { taskId } = paramsOf(sent);
        if (cancelled.has(taskId)) return refuse(sent, -32602);
        cancelled.add(taskId);
        return undefined;
      })(next);
    },
    killedBy: names("cancelled-by-eight"),
  },
  {
    name: "mcp/tasks-completed-cancelled",
    fault: "Cancels completed tasks",
    wrap: (next) => {
      const cancelled = new Set<unknown>();
      const changed = changeTasks(/^tasks\/get$/, (task) => {
        if (!cancelled.has(task["taskId"]) || task["status"] !== "completed") return;
        task["status"] = "cancelled";
        delete task["result"];
      })(next);
      return answerPosts((sent) => {
        if (isObject(sent) && sent["method"] === "tasks/cancel") cancelled.add(paramsOf(sent)["taskId"]);
        return undefined;
      })(changed);
    },
    killedBy: names("cancel-when-completed"),
  },
  {
    name: "mcp/tasks-terminal-changes",
    fault: "Changes the status of a task that ended",
    wrap: changeResults(/^tasks\/get$/, (task, seen) => {
      const id = task["taskId"];
      if (seen.has(id)) task["status"] = task["status"] === "completed" ? "cancelled" : "completed";
      seen.add(id);
    }, () => new Set<unknown>()),
    killedBy: names("cancel-races-result"),
    mayFail: { "They read a task twice": ALL },
  },
  {
    name: "mcp/tasks-cancelled-together",
    fault: "Cancels every task when one is cancelled",
    wrap: (next) => {
      let isCancelled = false;
      const changed = changeTasks(/^tasks\/get$/, (task) => {
        if (isCancelled && task["status"] === "working") task["status"] = "cancelled";
      })(next);
      return answerPosts((sent) => {
        isCancelled ||= isObject(sent) && sent["method"] === "tasks/cancel";
        return undefined;
      })(changed);
    },
    killedBy: names("cancel-stops-others-not"),
    mayFail: { "They read a working task": ALL },
  },
];
