import { Body, Controller, Get, Param, Post, Query, UseInterceptors } from '@nestjs/common';
import { ApiBearerAuth, ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { z } from 'zod';
import { Database } from '#libs/database';
import { CallerOf, Refusal } from '#libs/http';
import { asPrincipal, ForeignOwner, listProfiles, ProfileIdTaken, type Principal, type Profile } from '#libs/tenancy';
import { ApiProblems } from './api-problems.js';
import { CreatedOrOk, type Made } from './created-or-ok.js';
import { page, pageQuery, pageSchema } from './page.js';
import { makeProfile, NewProfile } from './profile-creation.js';
import { getProfile } from './profile-problems.js';

const ProfileAnswer = z.strictObject({
  id: z.guid(),
  name: z.string(),
  ownerId: z.string(),
  createdAt: z.iso.datetime(),
});
type ProfileAnswer = z.infer<typeof ProfileAnswer>;
const ProfilePage = pageSchema(ProfileAnswer);
const ProfileQuery = pageQuery(z.guid());

@ApiTags('profiles')
@ApiBearerAuth()
@Controller('api/profiles')
export class ProfileController {
  constructor(private readonly database: Database) {}

  @Post()
  @ApiOperation({ summary: 'Makes a profile with its ledger, its opening deposit and its limits, all or nothing' })
  @ApiCreatedResponse({ standardSchema: ProfileAnswer })
  @ApiOkResponse({ standardSchema: ProfileAnswer, description: 'the same request with the same id was done before' })
  @ApiProblems({
    400: 'a field is missing, unknown or unreadable: "errors" names each',
    403: '`foreign_owner`: a tenant makes profiles for itself only',
    409: '`profile_id_taken`: the id belongs to another profile, or the profile was made of something else',
    422: '`amount_too_large`: 10^20 or more · `amount_too_precise`: more than 18 decimals',
  })
  @UseInterceptors(CreatedOrOk)
  async create(
    @CallerOf() principal: Principal,
    @Body({ schema: NewProfile }) body: NewProfile,
  ): Promise<Made<ProfileAnswer>> {
    const { profile, isNew } = await asPrincipal(this.database, principal, (tx) =>
      makeProfile(tx, body, principal),
    ).catch((error: unknown) => {
      if (error instanceof ForeignOwner) throw new Refusal(403, 'foreign_owner', error.message);
      if (error instanceof ProfileIdTaken) throw new Refusal(409, 'profile_id_taken', error.message);
      throw error;
    });
    return { answer: profileAnswer(profile), isNew };
  }

  @Get()
  @ApiOperation({ summary: 'The profiles that the caller may see, in the order of their ids' })
  @ApiOkResponse({ standardSchema: ProfilePage })
  list(
    @CallerOf() principal: Principal,
    @Query({ schema: ProfileQuery }) { after, limit }: z.infer<typeof ProfileQuery>,
  ): Promise<z.infer<typeof ProfilePage>> {
    return asPrincipal(this.database, principal, (tx) =>
      page(limit, (count) => listProfiles(tx, { after, limit: count }), {
        cursor: ({ id }) => id,
        item: profileAnswer,
      }),
    );
  }

  @Get(':id')
  @ApiOperation({ summary: 'One profile' })
  @ApiOkResponse({ standardSchema: ProfileAnswer })
  @ApiProblems({ 404: '`unknown_profile`: there is no such profile, or it is not yours' })
  async read(@CallerOf() principal: Principal, @Param('id') id: string): Promise<ProfileAnswer> {
    return profileAnswer(await asPrincipal(this.database, principal, (tx) => getProfile(tx, id)));
  }
}

function profileAnswer({ id, name, ownerId, createdAt }: Profile): ProfileAnswer {
  return { id, name, ownerId, createdAt: createdAt.toISOString() };
}
