"""The processes of packs: started, asked, watched, ended, and started again."""
