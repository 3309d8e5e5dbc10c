import { ServiceUnavailableException } from '@nestjs/common';

/** What only Redis can tell is not made up while it is silent: the caller is told to come back. */
export async function redisAnswer<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw new ServiceUnavailableException(
      'Redis does not answer, so nothing is known of the workers at the moment; they go on. Try again when /internal/health shows it up.',
      { cause: error },
    );
  }
}
