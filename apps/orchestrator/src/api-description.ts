import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import type { HttpApp } from '#libs/http';
import { buildInfo } from '#libs/telemetry';

/** Serves Swagger's page at /docs and the OpenAPI document at /docs-json. */
export function describeApi(app: HttpApp): void {
  const description = new DocumentBuilder()
    .setTitle('Flotilla')
    .setDescription(
      'Admin API of the orchestrator. Amounts are strings, times are ISO 8601 in UTC, errors are application/problem+json.',
    )
    .setVersion(buildInfo().version)
    .addBearerAuth({ type: 'http', description: "the admin token; under /api/profiles also a tenant's JWT" })
    .build();
  SwaggerModule.setup('docs', app, () => SwaggerModule.createDocument(app, description), {
    jsonDocumentUrl: 'docs-json',
    customSiteTitle: 'Flotilla API',
  });
}
