import { applyDecorators } from '@nestjs/common';
import { ApiResponse } from '@nestjs/swagger';

const PROBLEM = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'requestId'],
  properties: {
    type: { type: 'string', example: 'about:blank' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'what, which, and what to do' },
    requestId: { type: 'string' },
    code: { type: 'string', description: 'which refusal it is, where one status has several' },
    errors: {
      type: 'array',
      description: 'one entry for each faulty field',
      items: { type: 'object', properties: { path: { type: 'string' }, message: { type: 'string' } } },
    },
  },
};

/** Describes the refusals of a route by their status. */
export function ApiProblems(descriptions: Readonly<Record<number, string>>): ClassDecorator & MethodDecorator {
  return applyDecorators(
    ...Object.entries(descriptions).map(([status, description]) =>
      ApiResponse({
        status: Number(status),
        description,
        content: { 'application/problem+json': { schema: PROBLEM } },
      }),
    ),
  );
}
