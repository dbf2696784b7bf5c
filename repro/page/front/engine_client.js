// The page's side of the worker: send a question, and get its answers until a newer one is asked.

/** Start a worker from the text of its script. `hear`: a function for each kind of message. */
export class EngineClient {
  constructor(script, hear) {
    const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
    this.worker = new Worker(address);
    this.tickets = {};
    this.worker.onmessage = ({ data }) => {
      const { kind, ticket } = data;
      if (ticket !== undefined && this.tickets[ticket.split(" ")[0]] !== ticket) return; // outdated
      hear[kind](data);
    };
    this.worker.onerror = (event) => hear.refused({ message: `The engine stopped: ${event.message}` });
  }

  load(name, text) {
    this.worker.postMessage({ kind: "load", name, text });
  }

  /** Ask something; answers to an earlier question of the same topic are dropped from now on. */
  ask(topic, question) {
    const number = Number(this.tickets[topic]?.split(" ")[1] ?? 0) + 1;
    this.tickets[topic] = `${topic} ${number}`;
    this.worker.postMessage({ ticket: this.tickets[topic], ...question });
  }
}
