import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import type { Clock } from '#libs/clock';
import type { HttpApp } from '#libs/http';
import type { FaultBox } from '../faults/fault-box.js';

/** A client that has not answered a ping by the next one is gone. */
const PING_MS = 20_000;
const PAYLOAD_BYTES_MAX = 65_536;

export interface Route {
  readonly name: string;
  readonly path: RegExp;
  serve(client: StreamClient): void;
}

export interface StreamClient {
  readonly socket: WebSocket;
  readonly path: string;
  /** Says whether the client has asked for what it is here for. */
  readonly setListening: (isListening: boolean) => void;
}

interface ClientState {
  readonly name: string;
  isAlive: boolean;
  isListening: boolean;
}

/** The open streams of all clients. */
export class Sockets {
  private readonly server = new WebSocketServer({ noServer: true, maxPayload: PAYLOAD_BYTES_MAX });
  private readonly open = new Map<WebSocket, ClientState>();
  private readonly stopping = new AbortController();

  constructor(
    private readonly clock: Clock,
    private readonly box: FaultBox,
  ) {}

  attach(app: HttpApp, routes: readonly Route[]): void {
    app.getHttpServer().on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      const path = request.url?.split('?', 1)[0] ?? '';
      const route = routes.find((candidate) => candidate.path.test(path));
      if (!route) return refuse(socket, '404 Not Found');
      const fault = this.box.drawForUpgrade();
      if (fault?.fault === 'http-500') return refuse(socket, '500 Internal Server Error');
      if (fault?.fault === 'http-429') return refuse(socket, '429 Too Many Requests');
      if (fault) return void socket.destroy();
      this.server.handleUpgrade(request, socket, head, (client) => {
        const state = this.keep(client, route.name);
        route.serve({ socket: client, path, setListening: (isListening) => (state.isListening = isListening) });
      });
    });
    void this.pingUntilStopped();
  }

  /** How many listen to a stream. */
  countListeners(name: string): number {
    return [...this.open.values()].filter((client) => client.name === name && client.isListening).length;
  }

  /** Cuts all of them, as a broken network does. */
  cutAll(): number {
    const clients = [...this.open.keys()];
    for (const client of clients) client.terminate();
    return clients.length;
  }

  /** Says good-bye and closes. */
  stop(): void {
    this.stopping.abort();
    for (const client of this.open.keys()) {
      client.close(1001, 'the venue stops');
      client.terminate();
    }
  }

  private keep(client: WebSocket, name: string): ClientState {
    const state: ClientState = { name, isAlive: true, isListening: false };
    this.open.set(client, state);
    client.on('pong', () => (state.isAlive = true));
    client.on('close', () => this.open.delete(client));
    // What goes wrong on a connection ends that connection; close follows.
    client.on('error', () => client.terminate());
    return state;
  }

  private async pingUntilStopped(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      await this.clock.sleep(PING_MS, this.stopping.signal);
      for (const [client, state] of this.open) {
        if (!state.isAlive) client.terminate();
        state.isAlive = false;
        if (client.readyState === client.OPEN) client.ping();
      }
    }
  }
}

function refuse(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}
