/**
 * The German texts of the pages on which a user approves a call of a tool.
 *
 * @module
 */
import type { ApprovalTexts } from "./texts_en.ts";

export const TEXTS: ApprovalTexts = {
  approvalTitle: "Diesen Aufruf erlauben?",
  approvalHeading: "Darf {application} diesen Aufruf ausführen?",
  approvalTool: "Werkzeug",
  approvalUpstream: "Server",
  approvalArguments: "Argumente",
  approvalNoArguments: "Keine",
  approvalMore:
    "{count} weitere Argumente werden nicht angezeigt. Lehnen Sie den Aufruf ab, wenn Sie sie sehen müssen.",
  approvalReason: "Warum Sie gefragt werden",
  approvalRemember: "{duration} lang nicht erneut fragen",
  approvalWarning:
    "Erlauben Sie ihn nur, wenn Sie die Anwendung darum gebeten haben. Er wird einmal erlaubt.",
  approvalGivenTitle: "Aufruf erlaubt",
  approvalGivenText: "Kehren Sie zur Anwendung zurück. Sie kann diesen Aufruf jetzt ausführen.",
  approvalRefusedTitle: "Aufruf abgelehnt",
  approvalRefusedText: "Die Anwendung durfte diesen Aufruf nicht ausführen.",
  allowedCalls: "Erlaubte Aufrufe",
  allowedCallsLead: "Anwendungen können diese Aufrufe ausführen, ohne Sie erneut zu fragen.",
  allowedCallsNone: "Es gibt keinen Aufruf, den Anwendungen ohne Nachfrage ausführen können.",
  allowedCallsAny: "mit beliebigen Argumenten",
  allowedCallBy: "{application}, bis {time} (UTC)",
  allowedCallEnd: "Wieder fragen",
  allowedCallEndOf: "Vor {tool} wieder fragen",
  allowedCallDone: "Vor diesem Aufruf werden Sie wieder gefragt.",
};
