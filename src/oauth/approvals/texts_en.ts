/**
 * The English texts of the pages on which a user approves a call of a tool.
 *
 * @module
 */

export const TEXTS = {
  approvalTitle: "Allow this call?",
  approvalHeading: "Allow {application} to make this call?",
  approvalTool: "Tool",
  approvalUpstream: "Server",
  approvalArguments: "Arguments",
  approvalNoArguments: "None",
  approvalMore: "{count} more arguments are not shown. Deny the call if you need to see them.",
  approvalReason: "Why you are asked",
  approvalRemember: "Do not ask again for {duration}",
  approvalWarning: "Allow it only if you asked the application to do this. It is allowed once.",
  approvalGivenTitle: "Call allowed",
  approvalGivenText: "Return to the application. It can make this call now.",
  approvalRefusedTitle: "Call denied",
  approvalRefusedText: "The application was not allowed to make this call.",
  allowedCalls: "Allowed calls",
  allowedCallsLead: "Applications can make these calls without asking you again.",
  allowedCallsNone: "There is no call that applications can make without asking you.",
  allowedCallsAny: "with any arguments",
  allowedCallBy: "{application}, until {time} (UTC)",
  allowedCallEnd: "Ask again",
  allowedCallEndOf: "Ask again before {tool}",
  allowedCallDone: "You are asked again before this call.",
};

export type ApprovalTexts = Readonly<Record<keyof typeof TEXTS, string>>;
