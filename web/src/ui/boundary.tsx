/** What stands in for a part of the page that cannot be fetched or drawn; the rest goes on. */
import { Component, type ReactNode, useState } from "react";
import * as api from "../api/client";
import { Refused } from "../api/problem";
import { forgetFailed, NotFetched } from "./fetched";
import { queries } from "./load";
import { Problems } from "./parts";

interface Props {
  /** What it is, in words: `page`, `plot`. */
  what: string;
  /** It is drawn anew when one of these changes: the address of a page, the inputs of a plot. */
  of: readonly unknown[];
  children: ReactNode;
}

interface Caught {
  error: unknown;
  /** What it was drawn of; not known at the moment of the error. */
  of: readonly unknown[] | undefined;
}

/** Parts that could not be fetched, and answers that may be what could not be drawn, are asked for anew. */
function forget(): void {
  forgetFailed();
  queries.removeQueries({ type: "inactive" });
}

export class Boundary extends Component<Props, { caught: Caught | null }> {
  override state: { caught: Caught | null } = { caught: null };

  static getDerivedStateFromError(error: unknown): { caught: Caught } {
    return { caught: { error, of: undefined } };
  }

  static getDerivedStateFromProps(props: Props, state: { caught: Caught | null }): { caught: Caught | null } | null {
    const { caught } = state;
    if (!caught) return null;
    if (!caught.of) return { caught: { error: caught.error, of: props.of } };
    if (caught.of.length === props.of.length && caught.of.every((one, at) => Object.is(one, props.of[at]))) return null;
    forget();
    return { caught: null };
  }

  override render(): ReactNode {
    const { caught } = this.state;
    if (!caught) return this.props.children;
    const again = () => {
      forget();
      this.setState({ caught: null });
    };
    return caught.error instanceof NotFetched ? <Missing what={this.props.what} /> : <Undrawn what={this.props.what} error={caught.error} onAgain={again} />;
  }
}

/** Whether the server answers, whatever it says. */
async function answers(): Promise<boolean> {
  try {
    await api.about();
    return true;
  } catch (error) {
    return error instanceof Refused;
  }
}

/** Only a server that answers has a page to load: without one the browser's own error would take its place. */
function Missing({ what }: { what: string }) {
  const [gone, setGone] = useState(false);
  const load = () => {
    setGone(false);
    void answers().then((here) => (here ? window.location.reload() : setGone(true)));
  };
  return (
    <section>
      <Problems
        problems={[
          {
            message: `This ${what} could not be fetched`,
            help: "The server has ended, or another version of Tenter has taken its place. Trials, the queue and your draft are kept.",
          },
        ]}
      />
      {gone ? (
        <p className="note warn" role="status">
          The server does not answer. Start it again with <code>tenter ui</code>, then load the {what} again.
        </p>
      ) : null}
      <div className="actions">
        <button type="button" className="primary" onClick={load}>
          Load again
        </button>
      </div>
    </section>
  );
}

function Undrawn({ what, error, onAgain }: { what: string; error: unknown; onAgain: () => void }) {
  const said = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return (
    <section>
      <Problems
        problems={[{ message: `This ${what} could not be drawn`, help: "This is a mistake of Tenter's page, not of your trial: its numbers are kept. Please report it with the text below." }]}
      />
      <pre>{said}</pre>
      <div className="actions">
        <button type="button" className="primary" onClick={onAgain}>
          Draw it again
        </button>
      </div>
    </section>
  );
}
