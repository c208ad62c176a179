package lint

import "testing"

func TestHasSecret(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"ghp_0123456789abcdefghijABCDEFGHIJ012345": true, "password: hunter2secret": true, "password=hunter2secret": true, "api_key=abcdef0123456789": true,
		"sk_live_4eC39HqLyjWDarjtT1zdp7dc": true, "Bearer abcdef0123456789abcdef": true, "AccountKey=" + "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMN0123456789+/==": true,
		"postgres://shop:hunter2@db/shop": true, "-----BEGIN RSA PRIVATE KEY-----": true, "AKIAZ2345678ABCDEFGH": true, "glpat-abcdefghij0123456789": true,
		"https://user:password@host": false, "https://<user>:<password1>@host": false, "postgres://$USER:$PASS1@db/shop": false, "postgres://{user}:{password1}@db": false,
		"task-based-approach-to-everything": false, "sk-learn-something-very-long-name-of-x": false, "AKIAIOSFODNN7EXAMPLE": false,
		"password: required for login": false, "the secret of success1": false, "an api key": false, "": false,
	} {
		if got := hasSecret(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
