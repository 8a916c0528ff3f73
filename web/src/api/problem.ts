import { isReport } from "../embedded";

/** What went wrong, where, and what to do: the form of every error of the server. */
export interface Problem {
  message: string;
  help?: string | null;
  line?: number | null;
  column?: number | null;
  /** The problems of a scenario, one by one. */
  problems?: Problem[] | null;
}

export class Refused extends Error {
  readonly problem: Problem;
  readonly status: number;
  constructor(problem: Problem, status: number) {
    super(problem.message);
    this.problem = problem;
    this.status = status;
  }
}

/** A problem as the page shows it: without advice for programs, who read addresses of the interface. */
export function forPeople(problem: Problem): Problem {
  const { help, ...rest } = problem;
  return help && !/\/api\/v1|its address/.test(help) ? problem : rest;
}

export function problemOf(error: unknown): Problem {
  if (error instanceof Refused) return error.problem;
  if (error instanceof TypeError && isReport) {
    return { message: "the report cannot be read", help: "The file is damaged, or this browser is too old." };
  }
  if (error instanceof TypeError) {
    return {
      message: "the server does not answer",
      help: "Start it again with `tenter ui`; trials and the queue are kept.",
    };
  }
  return { message: error instanceof Error ? error.message : String(error) };
}
