import { main } from './run.js';

// A reader that has seen enough, such as `head`, closes the pipe. That is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

// The code is set and the process left to end by itself, so that a slow pipe still gets everything.
process.exitCode = await main(process.argv.slice(2));
