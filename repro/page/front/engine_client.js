// The page's side of the worker: send a question, and get its answers until a newer one is asked.

export class EngineClient {
  /** Start a worker from the text of its script; `stopped(message)` is told if it breaks. */
  constructor(script, stopped) {
    this.address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
    this.worker = new Worker(this.address);
    this.count = 0;
    this.newest = new Map(); // topic -> the last question: { ticket, hear }
    this.worker.onmessage = ({ data }) => {
      for (const { ticket, hear } of [...this.newest.values()]) {
        if (ticket === data.ticket) hear[data.kind]?.(data);
      }
    };
    this.worker.onerror = (event) => stopped(`The engine stopped: ${event.message}`);
  }

  /**
   * Ask something; answers to an earlier question of the same topic are dropped from now on.
   *
   * `hear`: a function for each kind of answer.
   */
  ask(topic, question, hear) {
    this.count += 1;
    this.newest.set(topic, { ticket: this.count, hear });
    this.worker.postMessage({ ticket: this.count, ...question });
  }

  /** Hear no more answers of a topic. */
  forget(topic) {
    this.newest.delete(topic);
  }

  stop() {
    this.newest.clear();
    this.worker.terminate();
    URL.revokeObjectURL(this.address);
  }
}
