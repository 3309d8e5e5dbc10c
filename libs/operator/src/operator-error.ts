/**
 * An error that explains itself to whoever runs Flotilla: the message says what is wrong, which thing it concerns and
 * what to do. A process that ends with one prints the message alone; any other error is a bug and keeps its stack.
 */
export class OperatorError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}
